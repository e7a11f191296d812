import { RE2JS } from 're2js';

/** Minimum share of a core. A run that got less, because the machine is busy, is repeated once with a longer time limit. */
const minCpuShare = 1 / 2;
/** Time limit of the repeated run as a multiple of `maxRunMs`. */
const retryFactor = 4;

/** Thrown if a pattern from outside is invalid, too large, or too slow. The message continues "the pattern cannot be used:". */
export class PatternError extends Error {
  override readonly name = 'PatternError';
  /** Whether the time limit was exceeded. */
  readonly isTimeout: boolean;

  constructor(message: string, { isTimeout = false } = {}) {
    super(message);
    this.isTimeout = isTimeout;
  }
}

/** Limits of a pattern. The time to match grows with the program size times the length of the text. */
export interface PatternLimits {
  /** Default: 1000. */
  readonly maxSourceChars?: number;
  /** Instructions after RE2 has expanded repetitions. Default: 3000. `a{1000}` has about 1000, `(?:a?){1000}` about 2000. */
  readonly maxProgramSize?: number;
}

/** Operations that `withPatterns` offers under its time limit. Both throw `PatternError`. */
export interface PatternRun {
  compile(source: string, limits?: PatternLimits): Pattern;
  /** Returns whether the pattern matches somewhere in the text. */
  isFound(pattern: Pattern, text: string): boolean;
}

/** Time for all patterns of one run together, because the event loop serves no other request meanwhile. */
const maxRunMs = 250;
const maxTextChars = 1024 * 1024;
const defaultLimits: Required<PatternLimits> = { maxSourceChars: 1000, maxProgramSize: 3000 };

/** A compiled pattern in the syntax of RE2. Only `withPatterns` can match it. */
export class Pattern {
  readonly source: string;
  #expression: RE2JS;
  /** Set while a match runs. A match that the clock ends leaves it set, and the matcher's caches half written. */
  #isMatching = false;

  private constructor(source: string, expression: RE2JS) {
    this.source = source;
    this.#expression = expression;
  }

  /** Argument that `withPatterns` passes to its callback. */
  static readonly run: PatternRun = {
    compile(source, limits) {
      const { maxSourceChars, maxProgramSize } = { ...defaultLimits, ...limits };
      if (source.length > maxSourceChars) throw new PatternError(`it has more than ${maxSourceChars} characters`);
      // RE2 expands repetitions before it knows the size, which takes up to 250 ms for 1000 characters.
      const isLarge = estimateProgramSize(source) > maxProgramSize;
      const expression = isLarge ? undefined : compileRe2(source);
      if (expression === undefined || expression.programSize() > maxProgramSize)
        throw new PatternError(`it expands to more than ${maxProgramSize} instructions, use smaller repetition counts`);
      return new Pattern(source, expression);
    },
    isFound(pattern, text) {
      if (text.length > maxTextChars) throw new PatternError(`the text has more than ${maxTextChars} characters`);
      if (pattern.#isMatching) pattern.#expression = compileRe2(pattern.source);
      pattern.#isMatching = true;
      const isFound = pattern.#expression.matcher(text).find();
      pattern.#isMatching = false;
      return isFound;
    },
  };
}

/**
 * Runs a function that compiles and matches patterns from outside, for at most 250 ms in total, or 1.25 s on a busy machine. This
 * is the only way to use RE2, so no pattern can block the event loop for longer. Throws `PatternError` if the time is over, and rethrows errors of `run`.
 * Costs about 0.1 ms: match all texts in one run where you can. `run` may be called twice.
 */
export function withPatterns<Value>(run: (patterns: PatternRun) => Value): Value {
  try {
    return runWithTimeout(() => run(Pattern.run));
  } catch (error) {
    throw isTimeout(error) ? new PatternError(`it takes longer than ${maxRunMs} ms`, { isTimeout: true }) : error;
  }
}

/** Compiles one pattern. Throws `PatternError`. */
export function compilePattern(source: string, limits?: PatternLimits): Pattern {
  return withPatterns(({ compile }) => compile(source, limits));
}

function compileRe2(source: string): RE2JS {
  try {
    return RE2JS.compile(source);
  } catch (error) {
    throw new PatternError(error instanceof Error ? error.message.slice(0, 200) : 'it cannot be read');
  }
}

// One `\pL` takes RE2 as long as about 20 instructions: its tables are merged, sorted, and case-folded.
const unicodeClassSize = 20;

/** Estimates the number of instructions after `{n,m}` is expanded, in linear time. Invalid sources have a size too. */
function estimateProgramSize(source: string): number {
  const groups: number[] = [];
  let size = 0;
  let lastItem = 0;
  const token =
    /\((?:\?(?:P?<\w{1,64}>|[a-zA-Z-]{0,8}:?))?|\\[xpP]\{\w{0,64}\}|\\.|\[\^?\]?(?:\\.|\[:\^?\w{1,16}:\]|[^\]\\])*\]?|\{\d{1,4}(?:,\d{0,4})?\}|./gsu;
  for (const [text] of source.matchAll(token)) {
    const [low = 0, high = low] = text[0] === '{' ? (text.match(/\d+/g) ?? []).map(Number) : [];
    if (text.startsWith('(')) {
      groups.push(size);
      size = 0;
      lastItem = 0;
    } else if (text === ')') {
      lastItem = size;
      size += groups.pop() ?? 0;
    } else if (low + high > 0) {
      const expanded = lastItem * Math.max(low, high);
      size += expanded - lastItem;
      lastItem = expanded;
    } else {
      const isSuffix = text === '?' || text === '*' || text === '+';
      lastItem = isSuffix ? lastItem + 1 : 1;
      size += 1 + unicodeClassSize * (text.match(/\\[pP]/g)?.length ?? 0);
    }
  }
  return size;
}

/** The parts of `process` and `node:vm` used here. The page's type check does not know Node's modules. CPU times are in microseconds. */
interface NodeProcess {
  getBuiltinModule(id: 'node:vm'): {
    createContext(globals: object): { run?: unknown };
    runInContext(code: string, context: object, options: { readonly timeout: number }): never;
  };
  threadCpuUsage(): { readonly user: number; readonly system: number };
}

/** Context of all runs. To create it takes longer than most runs. */
let context: { run?: unknown } | undefined;

/**
 * Runs a function and returns its result. Throws if it takes longer than `maxRunMs`, even in the middle of a regular expression.
 * Bounds the time but is not a sandbox. On the page, which has no `node:vm`, the time is not limited: there a user's patterns delay
 * only that user.
 */
function runWithTimeout<Value>(run: () => Value): Value {
  const { process } = globalThis as { readonly process?: NodeProcess };
  if (process === undefined) return run();
  const { createContext, runInContext } = process.getBuiltinModule('node:vm');
  const shared = context ?? createContext({});
  context = shared;
  const runIn = (timeoutMs: number): Value => runInContext('run()', Object.assign(shared, { run }), { timeout: timeoutMs });
  const startMs = getCpuMs();
  try {
    return runIn(maxRunMs);
  } catch (error) {
    if (!isTimeout(error) || getCpuMs() - startMs > maxRunMs * minCpuShare) throw error;
    return runIn(maxRunMs * retryFactor);
  } finally {
    // Otherwise the context keeps the function and its texts in memory until the next run.
    shared.run = undefined;
  }
}

/** Returns the CPU time that this thread has used, in milliseconds. On the page, returns the elapsed time. */
export function getCpuMs(): number {
  const { process } = globalThis as { readonly process?: NodeProcess };
  if (process === undefined) return performance.now();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Returns whether `runWithTimeout` ended a run at its time limit. The error is from another realm, so `instanceof` fails. */
function isTimeout(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
