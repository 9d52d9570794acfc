// One manifest file through its changes: the objects of its last readable contents are kept until it is readable again.
import { isUtf8 } from 'node:buffer';
import { readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, sep } from 'node:path';
import type { Problem } from '../../kernel/errors.js';
import type { KubernetesObject } from '../objects/types.js';
import { readManifest } from './manifestFile.js';

/** Time without a change after which a file that is written in place is read, in ms: before, it may be half written. */
export const STILL = 1000;

/** Largest file that is read, in bytes: about 35 000 Services with their EndpointSlices. */
export const LARGEST = 64 * 1024 * 1024;

const NO_OBJECTS: ReadonlyMap<string, KubernetesObject> = new Map();

/** Identifies a state of a file. */
interface Stamp {
  /** Identifies the file itself: it changes when a file is renamed to the path. */
  readonly file: string;
  /** Changes whenever the contents may have. */
  readonly contents: string;
}

/** A file of a manifest source. */
export class FollowedFile {
  readonly #path: string;
  readonly #inFolder: boolean;
  /** The file behind links, when it was last looked at. */
  #target: string;
  /** The state that was read last. */
  #read: Stamp | undefined;
  /** Contents that may be half written, and when they were first seen, in ms. */
  #changing: { readonly contents: string; readonly since: number } | undefined;
  #objects = NO_OBJECTS;
  #whole = false;
  /** Why there is no readable file at the path. */
  #unreachable: Problem | undefined;
  /** Why the contents that were read last are not a manifest. */
  #unfit: Problem | undefined;
  /** Problems of the contents that were read last. */
  #problems: readonly Problem[] = [];

  /**
   * @param inFolder it is one of the files of a folder: pipes and devices, which may have no end, are refused, and links that
   *   leave the folder, because whoever may write to the folder need not have the right to read other files. Links within the
   *   folder are followed: the files of a mounted ConfigMap are such links
   */
  constructor(path: string, inFolder: boolean) {
    this.#path = path;
    this.#inFolder = inFolder;
    this.#target = path;
  }

  /** Objects by identity: those of the last contents that were readable as a whole, and the readable ones of newer contents. */
  get objects(): ReadonlyMap<string, KubernetesObject> {
    return this.#objects;
  }

  /** Why the file cannot be read at all; undefined when it can. */
  get error(): Problem | undefined {
    return this.#unreachable ?? this.#unfit;
  }

  /** Everything that is wrong with the file now. */
  get problems(): readonly Problem[] {
    return this.error === undefined ? this.#problems : [this.error, ...this.#problems];
  }

  /** Every document of the present contents could be read. */
  get whole(): boolean {
    return this.#whole && this.error === undefined;
  }

  /** The file is being written, and has to be read again after {@link STILL} ms. */
  get changing(): boolean {
    return this.#changing !== undefined;
  }

  /**
   * Reads the file if it has changed; never rejects.
   *
   * @param now a monotonic clock, in ms
   */
  async look(now: number): Promise<void> {
    let stamp: Stamp;
    try {
      stamp = await this.#stamp();
      this.#unreachable = undefined;
    } catch (error) {
      this.#unreachable = unreadable(this.#path, error);
      return;
    }
    if (!this.#mustRead(stamp, now)) return;
    this.#read = stamp;
    try {
      await this.#take();
      this.#unfit = undefined;
    } catch (error) {
      this.#unfit = unreadable(this.#path, error);
      // The system's error may pass without a change of the file.
      if ((error as NodeJS.ErrnoException).code) this.#read = { ...stamp, contents: '' };
    }
  }

  async #stamp(): Promise<Stamp> {
    this.#target = await realpath(this.#path);
    if (this.#inFolder && !this.#target.startsWith(`${await realpath(dirname(this.#path))}${sep}`))
      throw new Error('it is a link that leaves the folder');
    const found = await stat(this.#target, { bigint: true });
    if (this.#inFolder && !found.isFile()) throw new Error('it is not a regular file');
    if (found.size > LARGEST) throw new Error(`it has ${found.size} bytes, more than ${LARGEST}`);
    // A file that was removed may leave its inode to the next one: the time of birth differs then.
    return {
      file: `${found.dev} ${found.ino} ${found.birthtimeNs}`,
      contents: `${found.size} ${found.mtimeNs}`,
    };
  }

  /** A file that was renamed to the path is complete. One that is written in place is when it has been still. */
  #mustRead(stamp: Stamp, now: number): boolean {
    const { contents } = stamp;
    const changed = contents !== this.#read?.contents || stamp.file !== this.#read.file;
    if (!changed || stamp.file !== this.#read?.file) {
      this.#changing = undefined;
      return changed;
    }
    if (this.#changing?.contents !== contents) this.#changing = { contents, since: now };
    if (now - this.#changing.since < STILL) return false;
    this.#changing = undefined;
    return true;
  }

  async #take(): Promise<void> {
    const text = await this.#text();
    const { objects, problems, whole } = await readManifest(basename(this.#path), text, this.#objects);
    this.#problems = problems;
    this.#whole = whole;
    // Any former object may be in the unreadable part of the contents: the former ones are kept.
    this.#objects = whole ? objects : new Map([...this.#objects, ...objects]);
  }

  async #text(): Promise<string> {
    const bytes = await readFile(this.#target);
    if (!isUtf8(bytes)) throw new Error('it is not UTF-8');
    const text = bytes.toString().replace(/^\ufeff/, '');
    if (text.includes('\0')) throw new Error('it has NUL bytes');
    // The output file of a command that failed, or has not begun to write, is empty.
    if (text.trim() === '') throw new Error('it is empty; remove the file to remove its objects');
    return text;
  }
}

/** The problem of an unreadable path. */
export function unreadable(path: string, error: unknown): Problem {
  const rule = `must be readable: ${(error as Error).message}`;
  return { source: path, object: 'file', field: 'contents', rule, reason: 'Unreadable' };
}
