import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const SLICES = 64;
const FIRST_SLOTS = 1 << 10;
/** 64 times 256 thousand slots of 8 bytes: 128 MB. */
const MOST_SLOTS = 1 << 18;
const FULLEST = 0.85;
const FREE = -1;
/** Values of a slice that are written to its file at once. */
const WRITTEN = 1 << 12;

export interface DistinctNumbers {
  add(value: number): void;
  /** The number of distinct values. Called once, at the end. */
  count(): number;
  /** Removes what was written to the disk. */
  close(): void;
}

function mix(value: number): number {
  const mixedBits = Math.imul(value ^ Math.imul(Math.floor(value / 2 ** 32), 0x85ebca6b), 0x9e3779b1);
  return (mixedBits ^ (mixedBits >>> 15)) >>> 0;
}

/** A set of integers from 0 up, in a fifth of the memory of a Set. */
class Table {
  used = 0;
  slots: Float64Array<ArrayBuffer> = new Float64Array(FIRST_SLOTS).fill(FREE);

  get isFull(): boolean {
    return this.used > this.slots.length * FULLEST;
  }

  /** The last bits of the mixed value chose the slice; the others choose the slot. */
  add(value: number): void {
    const mask = this.slots.length - 1;
    for (let slot = Math.floor(mix(value) / SLICES) & mask; ; slot = (slot + 1) & mask) {
      if (this.slots[slot] === value) return;
      if (this.slots[slot] !== FREE) continue;
      this.slots[slot] = value;
      this.used += 1;
      return;
    }
  }

  grow(): void {
    const { slots } = this;
    this.slots = new Float64Array(slots.length * 2).fill(FREE);
    this.used = 0;
    for (const value of slots) if (value !== FREE) this.add(value);
  }
}

/** The values of one slice on the disk, repeated ones included. */
class SliceFile {
  private readonly waiting = new Float64Array(WRITTEN);
  private length = 0;
  private readonly file: number;

  constructor(file: number) {
    this.file = file;
  }

  add(value: number): void {
    this.waiting[this.length] = value;
    this.length += 1;
    if (this.length === WRITTEN) this.flush();
  }

  private flush(): void {
    const bytes = Buffer.from(this.waiting.buffer, 0, this.length * Float64Array.BYTES_PER_ELEMENT);
    for (let at = 0; at < bytes.length; ) at += writeSync(this.file, bytes, at);
    this.length = 0;
  }

  count(): number {
    this.flush();
    const table = new Table();
    const bytes = Buffer.from(this.waiting.buffer);
    for (let position = 0; ; ) {
      const length = readSync(this.file, bytes, 0, bytes.length, position);
      if (length === 0) return table.used;
      position += length;
      for (const value of this.waiting.subarray(0, length / Float64Array.BYTES_PER_ELEMENT)) {
        table.add(value);
        if (table.isFull) table.grow();
      }
    }
  }

  close(): void {
    closeSync(this.file);
  }
}

/** Opens a file for each slice and removes its name, so that it disappears with the process, even after a crash. */
function openSlices(): SliceFile[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'rollcall-pks-'));
  try {
    return Array.from(
      { length: SLICES },
      (_, i) => new SliceFile(openSync(path.join(folder, String(i)), 'wx+', 0o600)),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Counts different integers from 0 up, exactly: in memory up to some 14 million, beyond that slice by slice on the
 * disk, 8 bytes a value. One slice grows at a time, so that growing needs no second copy of everything.
 */
export function distinctNumbers(mostSlots = MOST_SLOTS): DistinctNumbers {
  let tables = Array.from({ length: SLICES }, () => new Table());
  let files: SliceFile[] | undefined;

  function moveToDisk(): void {
    const slices = openSlices();
    tables.forEach(({ slots }, i) => {
      for (const value of slots) if (value !== FREE) slices[i]?.add(value);
    });
    files = slices;
    tables = [];
  }

  return {
    add: (value) => {
      const slice = mix(value) % SLICES;
      if (files) {
        files[slice]?.add(value);
        return;
      }
      const table = tables[slice];
      table?.add(value);
      if (!table?.isFull) return;
      if (table.slots.length < mostSlots) table.grow();
      else moveToDisk();
    },
    count: () =>
      files ? files.reduce((sum, file) => sum + file.count(), 0) : tables.reduce((sum, { used }) => sum + used, 0),
    close: () => {
      for (const file of files ?? []) file.close();
      files = undefined;
    },
  };
}
