// Failures of the scripts, reported without a stack trace.

/** A failure whose message is sufficient for the user. */
export class Failure extends Error {
  /** @override */
  name = 'Failure';
}

/**
 * Runs a script's body; a {@link Failure} becomes one line on stderr and an exit status.
 *
 * @param {string} name prefix of the line
 * @param {() => number | Promise<number>} body returns the exit status
 * @param {number} [status] the exit status of a failure
 * @returns {Promise<number>} the exit status
 */
export async function reportFailures(name, body, status = 1) {
  let done = false;
  // A reader that has read enough, such as head(1), ends the script quietly; with the status of SIGPIPE if it had more to do.
  process.stdout.on('error', () => setImmediate(() => process.exit(done ? 0 : 141)));
  try {
    const result = await body();
    done = true;
    return result;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    process.stderr.write(`${name}: ${error.message}\n`);
    return status;
  }
}
