import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { ignoreFailure } from './errors.ts';

/** The settings of OpenTelemetry, by the names that all its programs know. */
export interface TracingConfig {
  endpoint: string;
  /** Headers of each export, such as an authorization. */
  headers: Record<string, string>;
  serviceName: string;
  /** The share of traces that begin here and are recorded. */
  ratio: number;
}

const KINDS = { internal: 1, server: 2, client: 3 } as const;
const FAILED = 2;

type Attributes = Readonly<Record<string, string | number | undefined>>;

/** The position in a trace that its parts are recorded under. */
interface TraceContext {
  traceId: string;
  spanId: string;
  isSampled: boolean;
}

export interface SpanOptions {
  kind?: keyof typeof KINDS;
  attributes?: Attributes;
  /** Begins a trace, or continues that of a `traceparent`, where none is under way. */
  root?: { traceparent?: string | undefined };
}

export interface OpenSpan {
  annotate(attributes: Attributes): void;
  /** Runs what follows as a part of it. */
  within<T>(work: () => T): T;
  end(error?: unknown): void;
}

interface Tracer {
  begin(name: string, options: SpanOptions): OpenSpan | undefined;
  flush(): Promise<void>;
}

const currentContext = new AsyncLocalStorage<TraceContext>();
/** Of this process; undefined unless an endpoint is configured, so that a span costs one comparison. */
let tracer: Tracer | undefined;

export const isTracing = (): boolean => tracer !== undefined;

/** Begins a span of the trace under way; undefined if there is none, or if it is not recorded. The caller ends it. */
export const beginSpan = (name: string, options: SpanOptions = {}): OpenSpan | undefined =>
  tracer?.begin(name, options);

/** Runs the work as a span. */
export async function span<T>(name: string, options: SpanOptions, work: () => Promise<T>): Promise<T> {
  const open = tracer?.begin(name, options);
  if (!open) return await work();
  try {
    const result = await open.within(work);
    open.end();
    return result;
  } catch (error) {
    open.end(error);
    throw error;
  }
}

/** The `traceparent` header of a call to another service; undefined without a trace. */
export function currentTraceparent(): string | undefined {
  const context = tracer && currentContext.getStore();
  return context && `00-${context.traceId}-${context.spanId}-${context.isSampled ? '01' : '00'}`;
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const SAMPLED = 1;

function readTraceparent(header: string | undefined): TraceContext | undefined {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(header ?? '') ?? [];
  if (!traceId || !spanId || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags ?? '0', 16) & SAMPLED) === SAMPLED };
}

const toAttributes = (attributes: Attributes) =>
  Object.entries(attributes).flatMap(([key, value]) => {
    if (value === undefined) return [];
    return [{ key, value: typeof value === 'number' ? { doubleValue: value } : { stringValue: value } }];
  });

const EXPORT_EVERY_MS = 1_000;
const EXPORTED_AT_ONCE = 512;
/** Spans beyond these are dropped while the collector does not take any. */
const MOST_WAITING = 4_096;
const EXPORT_WITHIN_MS = 5_000;
const NANOS_PER_MS = 1_000_000;

const toNanos = (ms: number) => String(BigInt(Math.round(ms * 1_000)) * BigInt(NANOS_PER_MS / 1_000));

function openTracer({ endpoint, headers, serviceName, ratio }: TracingConfig): Tracer & { stop(): Promise<void> } {
  const url = `${endpoint.replace(/\/$/, '')}/v1/traces`;
  const resource = { attributes: toAttributes({ 'service.name': serviceName }) };
  const waiting: object[] = [];
  let exporting: Promise<void> = Promise.resolve();

  async function exportOnce(): Promise<void> {
    while (waiting.length > 0) {
      const spans = waiting.splice(0, EXPORTED_AT_ONCE);
      await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'rollcall' }, spans }] }] }),
        signal: AbortSignal.timeout(EXPORT_WITHIN_MS),
      });
    }
  }

  function flush(): Promise<void> {
    // Outside of every trace: an export is no part of the call that it follows.
    exporting = currentContext.exit(() =>
      exporting.then(exportOnce).catch(ignoreFailure('traces are lost while their collector is away')),
    );
    return exporting;
  }
  const timer = setInterval(() => void flush(), EXPORT_EVERY_MS).unref();

  function begin(name: string, { kind = 'internal', attributes = {}, root }: SpanOptions): OpenSpan | undefined {
    const parent = currentContext.getStore() ?? readTraceparent(root?.traceparent);
    if (!parent && !root) return undefined;
    const context: TraceContext = {
      traceId: parent?.traceId ?? randomBytes(16).toString('hex'),
      spanId: randomBytes(8).toString('hex'),
      isSampled: parent?.isSampled ?? Math.random() < ratio,
    };
    const startedAtMs = performance.timeOrigin + performance.now();
    let all = attributes;
    return {
      annotate: (more) => {
        all = { ...all, ...more };
      },
      within: (work) => currentContext.run(context, work),
      end: (error) => {
        if (!context.isSampled || waiting.length >= MOST_WAITING) return;
        waiting.push({
          traceId: context.traceId,
          spanId: context.spanId,
          ...(parent ? { parentSpanId: parent.spanId } : {}),
          name,
          kind: KINDS[kind],
          startTimeUnixNano: toNanos(startedAtMs),
          endTimeUnixNano: toNanos(performance.timeOrigin + performance.now()),
          attributes: toAttributes(all),
          ...(error === undefined
            ? {}
            : { status: { code: FAILED, message: error instanceof Error ? error.message : String(error) } }),
        });
      },
    };
  }

  return {
    begin,
    flush,
    stop: async () => {
      clearInterval(timer);
      await flush();
    },
  };
}

/** Records traces of this process from now on; returns what sends the last ones. Nothing is done without a configuration. */
export function startTracing(config: TracingConfig | undefined): () => Promise<void> {
  if (!config) return async () => undefined;
  const openedTracer = openTracer(config);
  tracer = openedTracer;
  return async () => {
    if (tracer === openedTracer) tracer = undefined;
    await openedTracer.stop();
  };
}
