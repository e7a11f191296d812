import { isUtf8 } from 'node:buffer';
import { readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, extname, isAbsolute, resolve } from 'node:path';
import { isJsonObject, type JsonObject, toObject } from '#base/json/json.ts';
import type {
  ConfigurationError,
  RejectedConfiguration,
  ValidConfiguration,
} from '#contract/configuration/checked-configuration.ts';
import { formatPath, type Issue, type Path } from '#contract/configuration/issue.ts';
import { logoTypes, maxLogoBytes } from '#contract/page/brand.ts';
import { checkConfiguration, toConfigurationError } from './check.ts';
import { type ParsedFile, parseText } from './parse-text.ts';
import { type Environment, type ReadSecretFile, substitute } from './substitute.ts';

/**
 * Reads files, merges them in order, substitutes references, and checks the result. If a file cannot be read or parsed, returns
 * only the errors of this step. Otherwise returns all other errors. Each error has its file. Does not reject.
 */
export async function loadConfiguration(
  files: readonly string[],
  environment: Environment,
  options: LoadOptions = {},
): Promise<ValidConfiguration | RejectedConfiguration> {
  const merged = await readFiles(files);
  return 'errors' in merged ? { ...merged, warnings: [] } : checkMerged(merged, environment, options);
}

/** Reads and merges files, without replacing references. Returns an error for each file that is invalid. Does not reject. */
export async function readFiles(files: readonly string[]): Promise<MergedFiles | Pick<RejectedConfiguration, 'errors'>> {
  const parsed = await Promise.all(files.map(readConfiguration));
  const errors = parsed.flatMap((file) => ('errors' in file ? file.errors : []));
  return errors.length > 0 ? { errors } : merge(parsed.filter((file) => 'value' in file));
}

/** Options for loading a configuration. */
export interface LoadOptions {
  /** Whether the process already serves requests. */
  readonly isRunning?: boolean;
  /** Whether the caller is `parley check`. The result then has additional warnings. */
  readonly isCheck?: boolean;
  /** Whether variables and secret files may be missing. Each missing one is then a warning. */
  readonly allowsMissingEnvironment?: boolean;
}

type ReadResult = ConfigurationFile | Pick<RejectedConfiguration, 'errors'>;

async function readConfiguration(file: string): Promise<ReadResult> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    return { errors: [{ file, path: '', message: describeReadError(error) }] };
  }
  if (!isUtf8(bytes)) return { errors: [{ file, path: '', message: 'is not UTF-8 text' }] };
  const parsed: ParsedFile = await parseText(file, bytes.toString('utf8'));
  return 'value' in parsed ? { file, value: parsed.value } : parsed;
}

const readErrors: ReadonlyMap<unknown, string> = new Map([
  ['ENOENT', 'does not exist'],
  ['ENOTDIR', 'does not exist'],
  ['EISDIR', 'is a folder'],
  ['EACCES', 'cannot be read because of its permissions'],
  ['EPERM', 'cannot be read because of its permissions'],
]);

function describeReadError(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return readErrors.get(code) ?? `cannot be read${code === undefined ? '' : ` (${code})`}`;
}

async function checkMerged(
  { value, findFile }: MergedFiles,
  environment: Environment,
  { isRunning = false, isCheck = false, allowsMissingEnvironment = false }: LoadOptions,
): Promise<ValidConfiguration | RejectedConfiguration> {
  const { errors, unset, writtenKeys, ...substituted } = substitute(value, environment, {
    readFile: readSecretFile,
    isRunning,
    allowsMissing: allowsMissingEnvironment,
  });
  const logo = await readLogo(substituted.value, findFile(['page', 'logo']));
  const checked = checkConfiguration(logo.value, { findFile, writtenKeys, isCheck });
  const toError = (error: Issue) => toConfigurationError(error, value, { findFile, writtenKeys: new Map() });
  const result = unset.length === 0 ? checked : withUnset(checked, unset.map(toError));
  const inputErrors = (logo.error === undefined ? errors : [...errors, logo.error]).map(toError);
  if (inputErrors.length === 0) return result;
  // Other errors at the same path are consequences of the missing value.
  const reportedPaths = new Set(inputErrors.map(({ path }) => path));
  const otherErrors = 'errors' in result ? result.errors.filter(({ path }) => !reportedPaths.has(path)) : [];
  // Warnings about empty sections apply only if the rest of the configuration is valid.
  const warnings = result.warnings.filter(({ path }) => path !== 'keys' && path !== 'models' && !reportedPaths.has(path));
  return { errors: [...inputErrors, ...otherErrors], warnings };
}

/**
 * Returns the result without errors and warnings at paths whose values are placeholders, and adds a warning for each placeholder.
 * The list of errors can then be empty.
 */
function withUnset(
  checked: ValidConfiguration | RejectedConfiguration,
  unset: readonly ConfigurationError[],
): ValidConfiguration | RejectedConfiguration {
  const paths = new Set(unset.map(({ path }) => path));
  const isElsewhere = ({ path }: ConfigurationError) => !paths.has(path);
  const warnings = [...unset, ...checked.warnings.filter(isElsewhere)];
  return 'errors' in checked ? { errors: checked.errors.filter(isElsewhere), warnings } : { ...checked, warnings };
}

interface ConfigurationFile {
  /** Name of the file as it was passed. Errors in its values have this name. */
  readonly file: string;
  readonly value: JsonObject;
}

interface MergedFiles {
  readonly value: JsonObject;
  /** Returns the file that holds the value at a path. Falls back to the file of the closest parent, then to the last file. */
  findFile(path: Path): string;
  /** Like `findFile`, for a formatted path. */
  findFileAt(path: string): string;
}

/** Merges files in order. Objects are merged key by key. Any other value replaces the earlier value. */
export function merge(files: readonly ConfigurationFile[]): MergedFiles {
  const origins = new Map<string, string>();
  let value: JsonObject = Object.create(null);
  for (const entry of files) {
    const setOrigin = (path: Path) => origins.set(formatPath(path), entry.file);
    value = mergeObjects(value, entry.value, { path: [], setOrigin });
  }
  const findFileAt = (path: string): string => {
    // A dot in a key splits it into two steps. No file is recorded for the first of them.
    const steps = path.split(/(?=[.[])/);
    const toStart = (length: number) => steps.slice(0, length).join('');
    const length = steps.findLastIndex((_, index) => origins.has(toStart(index + 1))) + 1;
    return origins.get(toStart(length)) ?? files.at(-1)?.file ?? '';
  };
  return { value, findFile: (path) => findFileAt(formatPath(path)), findFileAt };
}

interface MergeContext {
  readonly path: Path;
  /** Records the file of the value at a path. */
  readonly setOrigin: (path: Path) => void;
}

function mergeObjects(base: JsonObject, overrides: JsonObject, { path, setOrigin }: MergeContext): JsonObject {
  const merged: JsonObject = Object.assign(Object.create(null), base);
  for (const [key, value] of Object.entries(overrides)) {
    const context = { path: [...path, key], setOrigin };
    const previous = merged[key];
    merged[key] = isJsonObject(value) ? mergeObjects(toObject(previous), value, context) : value;
    setOrigin(context.path);
  }
  return merged;
}

/** Configuration with the content of its logo. If the logo file is invalid, the configuration has no logo. */
interface LogoResult {
  readonly value: unknown;
  readonly error?: Issue;
}

/** Replaces the file name in `page.logo` with the file content. A relative name starts at the folder of `file`. */
async function readLogo(value: unknown, file: string): Promise<LogoResult> {
  const page = isJsonObject(value) ? value.page : undefined;
  if (!isJsonObject(value) || !isJsonObject(page)) return { value };
  const { logo, ...otherSettings } = page;
  if (typeof logo !== 'string' || logo === '' || logo.startsWith('data:')) return { value };
  const image = await readImage(logo, file);
  if (typeof image === 'string') return { value: { ...value, page: { ...page, logo: image } } };
  return { value: { ...value, page: otherSettings }, error: { path: ['page', 'logo'], ...image } };
}

/** Returns the image as a `data:` URL, or an error. */
async function readImage(name: string, file: string): Promise<string | Omit<Issue, 'path'>> {
  const end = extname(name).slice(1).toLowerCase();
  const type = Object.entries({ ...logoTypes, jpeg: logoTypes.jpg }).find(([extension]) => extension === end)?.[1];
  if (type === undefined)
    return { message: 'must be the name of a .svg, .png, .webp, .jpg, or .jpeg file, or a data: URL of an image' };
  const bytes = await readFile(resolve(dirname(file), name)).catch(() => undefined);
  if (bytes === undefined)
    return { message: 'names a file that cannot be read', hint: 'a relative name starts at the folder of this configuration' };
  if (bytes.length === 0 || bytes.length > maxLogoBytes)
    return { message: `names a file that is empty, or larger than ${maxLogoBytes / 1024} KiB` };
  return `data:${type};base64,${bytes.toString('base64')}`;
}

/** Maximum size of a secret file. Google service accounts and certificate chains are smaller. */
const maxSecretBytes = 65_536;

/** Reads a file that holds one secret, such as `/run/secrets/openai`. Removes one trailing line break. */
export const readSecretFile: ReadSecretFile = (path) => {
  if (!isAbsolute(path)) return { error: 'is not an absolute path' };
  try {
    const stats = statSync(path);
    if (!stats.isFile()) return { error: 'is not a regular file' };
    if (stats.size > maxSecretBytes) return { error: `has more than ${maxSecretBytes} bytes` };
    const bytes = readFileSync(path);
    if (!isUtf8(bytes)) return { error: 'is not UTF-8 text' };
    const text = bytes.toString('utf8').replace(/\r?\n$/, '');
    return text === '' ? { error: 'is empty' } : { text };
  } catch (error) {
    return { error: describeReadError(error) };
  }
};
