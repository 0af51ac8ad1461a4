import type { Java } from './java.mjs';
import type { Program } from './process.ts';

export const ENGINE_NAMES = ['postgres', 'redis', 'elasticsearch', 'clickhouse'] as const;
export type EngineName = (typeof ENGINE_NAMES)[number];

/** The folders of one engine of one stack. */
export interface Seat {
  /** The installed program. */
  home: string;
  /** This engine's own folder inside the stack's data folder. */
  data: string;
  port: number;
  heapMb: number;
  java: Java | undefined;
}

/** An engine, as the embedded stack sees it. Each engine is one such value in its own file. */
export interface Engine {
  title: string;
  /** The environment variable that replaces the embedded engine with your own server. */
  variable: string;
  /** Folder of the installed version; undefined when the program runs from node_modules. */
  installation?: {
    folder: string;
    size: string;
    fetch(into: string, java: Java | undefined): Promise<void>;
  };
  /** Creates what must exist before the program starts; cheap if it exists. */
  prepare(seat: Seat): Promise<void>;
  program(seat: Seat): Program;
  /** Once it is ready, what shares the processor with it goes first. */
  givesWay?: boolean;
  url(seat: Seat): string;
  isReady(port: number): Promise<boolean>;
  readyWithinMs: number;
  stopSignal: NodeJS.Signals;
  /** Matches the log while a dying process of the last run still holds the data, so that a retry makes sense. */
  dataStillLocked: RegExp;
}
