import { execFile } from 'node:child_process';
import { type FileHandle, mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

const MEGABYTE = 1024 * 1024;
/** Ever smaller, until not a page is free. */
const CHUNKS = [MEGABYTE, 65_536, 4_096];
const AGAIN_AFTER_MS = 50;

/** A file system of a few megabytes in memory, which a test fills up. */
export interface SmallDisk {
  /** Resolves when it is full, and keeps it full from then on, whatever others remove. */
  fill(): Promise<void>;
  makeRoom(): Promise<void>;
  close(): Promise<void>;
}

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOSPC';
}

async function writeUntilFull(file: FileHandle): Promise<void> {
  for (const size of CHUNKS) {
    try {
      while ((await file.write(Buffer.alloc(size))).bytesWritten === size);
    } catch (error) {
      if (!isFull(error)) throw error;
    }
  }
}

export async function mountSmallDisk(folder: string, megabytes: number): Promise<SmallDisk> {
  await mkdir(folder, { recursive: true });
  await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'rollcall-chaos', folder]);
  const filler = path.join(folder, 'filler');
  let filling: { isOver: boolean; done: Promise<void> } | undefined;

  async function fill(): Promise<void> {
    const file = await open(filler, 'w');
    await writeUntilFull(file);
    const state = { isOver: false, done: Promise.resolve() };
    const keepFull = async () => {
      for (; !state.isOver; await pause(AGAIN_AFTER_MS)) await writeUntilFull(file);
      await file.close();
    };
    state.done = keepFull();
    filling = state;
  }
  async function makeRoom(): Promise<void> {
    if (!filling) return;
    filling.isOver = true;
    await filling.done;
    filling = undefined;
    await rm(filler, { force: true });
  }
  return {
    fill,
    makeRoom,
    close: async () => {
      await makeRoom();
      await run('umount', ['--lazy', folder]);
    },
  };
}

/** Whether this process may mount: root of a machine may, most containers may not. */
export async function canMount(): Promise<boolean> {
  const folder = await mkdtemp(path.join(tmpdir(), 'rollcall-mount-'));
  try {
    await (await mountSmallDisk(folder, 1)).close();
    return true;
  } catch {
    return false;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
