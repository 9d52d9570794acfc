// Calls of buildah. Its storage driver is vfs and its isolation chroot: both work inside containers and sandboxes too.

import { join } from 'node:path';
import { capture, run } from '../lib/commands.mjs';
import { Failure } from '../lib/failure.mjs';

/** buildah with one storage. */
export class Buildah {
  /** @type {readonly string[]} */
  #global;

  /**
   * @param {string | undefined} storage a folder; undefined: buildah's own
   */
  constructor(storage) {
    const place = storage ? ['--root', join(storage, 'root'), '--runroot', join(storage, 'run')] : [];
    this.#global = ['--storage-driver', 'vfs', ...place];
  }

  /**
   * Runs a command with our output.
   *
   * @param {readonly string[]} args
   */
  run(args) {
    run('buildah', [...this.#global, ...args]);
  }

  /**
   * @param {readonly string[]} args
   * @returns {string} its output
   */
  ask(args) {
    const { ok, stdout, stderr } = capture('buildah', [...this.#global, ...args]);
    if (!ok) throw new Failure(`buildah ${args.join(' ')}: ${stderr.trim()}`);
    return stdout.toString().trim();
  }

  /**
   * @param {string} image
   * @returns {boolean} whether it exists
   */
  has(image) {
    return capture('buildah', [...this.#global, 'inspect', '--type', 'image', image]).ok;
  }

  /**
   * Runs an action with a container of an image, and deletes the container.
   *
   * @template Result
   * @param {string} image
   * @param {(container: string) => Result} action
   * @param {readonly string[]} [options] of buildah from
   * @returns {Result}
   */
  within(image, action, options = []) {
    const container = this.ask(['from', '--pull-never', ...options, image]);
    try {
      return action(container);
    } finally {
      this.run(['rm', container]);
    }
  }
}
