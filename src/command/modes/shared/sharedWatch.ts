// One watch of the kernel for several listeners, so that each notification is read and decoded once.

/** A watch that is open. */
export interface Watch {
  close(): void;
}

/** Opens a watch for a listener. */
type OpenWatch<Event> = (listener: (event: Event) => void) => Promise<Watch>;

/**
 * The same watch for all listeners. It is opened for the first one, and closed with the last. Rejects for each listener while
 * it cannot be opened; the next listener then tries again.
 */
export function sharedWatch<Event>(open: OpenWatch<Event>): OpenWatch<Event> {
  const listeners = new Set<(event: Event) => void>();
  let opened: Promise<Watch> | undefined;
  return async (listener) => {
    opened ??= open((event) => {
      for (const each of listeners) each(event);
    });
    const opening = opened;
    listeners.add(listener);
    try {
      await opening;
    } catch (error) {
      listeners.delete(listener);
      if (opened === opening) opened = undefined;
      throw error;
    }
    return {
      close() {
        if (!listeners.delete(listener) || listeners.size > 0) return;
        opened = undefined;
        void opening.then((watch) => watch.close());
      },
    };
  };
}
