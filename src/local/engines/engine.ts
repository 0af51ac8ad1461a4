import type { Java } from './java.ts';
import type { Program } from './process.ts';

export const ENGINE_NAMES = ['postgres', 'redis', 'elasticsearch', 'clickhouse'] as const;
export type EngineName = (typeof ENGINE_NAMES)[number];

/** Where one engine of one stack lives. */
export interface Seat {
  /** The installed program. */
  home: string;
  /** This engine's own folder inside the stack's data folder. */
  data: string;
  port: number;
  heapMb: number;
  java: Java | undefined;
}

/** What the embedded stack has to know of an engine; each engine is one such value in its own file. */
export interface Engine {
  title: string;
  /** The environment variable that puts one's own server in this engine's place. */
  variable: string;
  /** Folder of the installed version; undefined when the program runs from node_modules. */
  installation?: {
    folder: string;
    size: string;
    fetch(into: string, java: Java | undefined): Promise<void>;
  };
  /** Makes what must exist before the program starts; cheap when it does. */
  prepare(seat: Seat): Promise<void>;
  program(seat: Seat): Program;
  url(seat: Seat): string;
  isReady(port: number): Promise<boolean>;
  readyWithinMs: number;
  stopSignal: NodeJS.Signals;
  /** What the log says while a dying process of the last run still holds the data: worth another try. */
  dataStillLocked: RegExp;
}
