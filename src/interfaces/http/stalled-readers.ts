import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** A reader that takes nothing of an answer for a minute is gone, and holds memory, a slot or a snapshot of rows. */
const LOOK_EVERY_MS = 1_000;
const MOST_LOOKS = 60;
/** Less than this in a minute is nothing: bytes that drip would hold as much. */
const LEAST_BYTES = 16 * 1024;
/** Bytes of answers that may wait for all readers together. */
const MOST_WAITING_BYTES = 64 * 1024 * 1024;

interface Reader {
  taken: number;
  /** Looks at which an answer was waiting and nothing had been taken. They are counted, because a process may stand still. */
  stalledLooks: number;
  /** Looks in a row at which an answer was waiting, however fast it was taken. */
  waitingLooks: number;
}

/**
 * Ends connections whose readers stand still, and, while too much waits for all of them, of those that have kept an answer
 * waiting for longest: many readers that each take a little would fill the memory. Node's own timer of a socket begins anew
 * when a write was taken in part, so it may take twice as long. An answer that is still being made has all the time it needs.
 */
export function cutStalledReaders(server: Server, mostWaitingBytes = MOST_WAITING_BYTES): void {
  const readers = new Map<Socket, Reader>();
  server.on('connection', (socket) => {
    readers.set(socket, { taken: 0, stalledLooks: 0, waitingLooks: 0 });
    socket.once('close', () => readers.delete(socket));
  });

  function cutSlowest(): void {
    const slow = [...readers].filter(([, { waitingLooks }]) => waitingLooks > 1);
    let bytes = [...readers.keys()].reduce((sum, { writableLength }) => sum + writableLength, 0);
    for (const [socket] of slow.toSorted(([, a], [, b]) => b.waitingLooks - a.waitingLooks)) {
      if (bytes <= mostWaitingBytes) return;
      bytes -= socket.writableLength;
      socket.destroy();
    }
  }

  const looking = setInterval(() => {
    for (const [socket, reader] of readers) {
      const waiting = socket.writableLength;
      const takenBytes = socket.bytesWritten - waiting;
      reader.waitingLooks = waiting > 0 ? reader.waitingLooks + 1 : 0;
      if (waiting > 0 && takenBytes - reader.taken < LEAST_BYTES) {
        reader.stalledLooks += 1;
        if (reader.stalledLooks >= MOST_LOOKS) socket.destroy();
      } else {
        reader.taken = takenBytes;
        reader.stalledLooks = 0;
      }
    }
    cutSlowest();
  }, LOOK_EVERY_MS).unref();
  server.once('close', () => clearInterval(looking));
}
