import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** A reader that takes nothing of an answer for a minute is gone, and holds memory, a slot or a snapshot of rows. */
const LOOK_EVERY_MS = 5_000;
const MOST_LOOKS = 12;
/** Less than this in a minute is nothing: bytes that drip would hold as much. */
const LEAST_BYTES = 16 * 1024;

interface Reader {
  taken: number;
  /** Looks at which an answer was waiting and nothing had been taken. They are counted, because a process may stand still. */
  stalledLooks: number;
}

/**
 * Ends connections whose readers stand still. Node's own timer of a socket begins anew when a write was taken in part, so it
 * may take twice as long. An answer that is still being made has all the time it needs.
 */
export function cutStalledReaders(server: Server): void {
  const readers = new Map<Socket, Reader>();
  server.on('connection', (socket) => {
    readers.set(socket, { taken: 0, stalledLooks: 0 });
    socket.once('close', () => readers.delete(socket));
  });
  const looking = setInterval(() => {
    for (const [socket, reader] of readers) {
      const waiting = socket.writableLength;
      const taken = socket.bytesWritten - waiting;
      if (waiting > 0 && taken - reader.taken < LEAST_BYTES) {
        reader.stalledLooks += 1;
        if (reader.stalledLooks >= MOST_LOOKS) socket.destroy();
      } else {
        reader.taken = taken;
        reader.stalledLooks = 0;
      }
    }
  }, LOOK_EVERY_MS).unref();
  server.once('close', () => clearInterval(looking));
}
