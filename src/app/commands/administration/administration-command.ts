import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '#base/json/json.ts';
import { truncate } from '#base/text/truncate.ts';
import { readEntryDocument, toReferences } from '#configuration/entry-document.ts';
import { readSecretFile } from '#configuration/load.ts';
import { formatYaml } from '#configuration/parse-yaml.ts';
import type { Environment } from '#configuration/substitute.ts';
import { entryKinds, isEntryKind } from '#contract/administration/entry-kinds.ts';
import { type ConfigurationError, formatConfigurationError } from '#contract/configuration/checked-configuration.ts';
import { formatPath } from '#contract/configuration/issue.ts';
import { isHttpUrl } from '#contract/configuration/values.ts';
import { defaultUrl } from '../command-options.ts';
import { formatMessage, ServiceClient, ServiceClientError } from '../service-client.ts';
import type { AdministrationCommand, ApplyFlags, ExportFlags } from './administration-flags.ts';

/** Dependencies of `parley apply`, `parley diff`, and `parley export`. */
export interface AdministrationDeps {
  readonly environment: Environment;
  /** Asks the user a question. Undefined if stdin is not a terminal. */
  readonly confirm: ((question: string) => Promise<boolean>) | undefined;
  /** Writes a line to stderr. */
  readonly report: (line: string) => void;
  /** Writes a line to stdout. */
  readonly show: (line: string) => void;
}

/** Response of `POST /v1/admin/apply`. */
interface AppliedDocument {
  readonly dryRun: boolean;
  /** ID of the change. Null if no entry was stored. */
  readonly change: string | null;
  readonly data: readonly AppliedWrite[];
}

/** A write of an entry, as the service returns it. */
interface AppliedWrite {
  readonly kind: string;
  readonly id: string;
  readonly action: 'created' | 'updated' | 'deleted';
  readonly differences: readonly { readonly path: string; readonly before?: unknown; readonly after?: unknown }[];
}

/** The arguments or the environment are invalid. */
class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The document or the key is invalid, or the service rejects the document. */
class RejectedError extends Error {
  override readonly name = 'RejectedError';
  readonly code: string | undefined;
  readonly errors: readonly ConfigurationError[];

  constructor(message: string, { code, errors }: { code?: string | undefined; errors: readonly ConfigurationError[] }) {
    super(message);
    this.code = code;
    this.errors = errors;
  }
}

/** Runs `parley apply`, `parley diff`, or `parley export`. Returns the exit code. */
export async function administrationCommand(command: AdministrationCommand, deps: AdministrationDeps): Promise<0 | 1 | 2> {
  const output = { ...deps, report: (line: string) => deps.report(escapeControls(line)) };
  try {
    if (command.name === 'export') return await exportEntries(command.flags, output);
    const differenceCode = command.name === 'diff' ? 1 : 0;
    return await apply(command.flags, { ...output, differenceCode });
  } catch (error) {
    return reportError(error, command.flags.isJson, output);
  }
}

function reportError(error: unknown, isJson: boolean, { report, show }: AdministrationDeps): 1 | 2 {
  if (error instanceof UsageError) {
    report(`parley: ${error.message}. See parley apply --help`);
    return 2;
  }
  if (!(error instanceof RejectedError || error instanceof ServiceClientError)) throw error;
  const { code = null, errors, message } = error;
  for (const item of errors) report(formatConfigurationError({ file: '', ...item }));
  report(`parley: ${formatMessage(error)}`);
  if (isJson) show(JSON.stringify({ error: { code, message, errors } }, null, 2));
  return 1;
}

interface ApplyDeps extends AdministrationDeps {
  /** Exit code if there is a difference. */
  readonly differenceCode: 0 | 1;
}

async function apply(flags: ApplyFlags, deps: ApplyDeps): Promise<0 | 1> {
  const { files, isDryRun, isPruning, isConfirmed } = flags;
  const { environment, confirm, report } = deps;
  const mustConfirm = isPruning && !isDryRun && !isConfirmed;
  if (mustConfirm && confirm === undefined)
    throw new UsageError('--prune deletes entries. Add --yes to confirm this, or --dry-run to list them');
  const client = openClient(flags, environment);
  const document = await readEntryDocument(files, environment);
  if ('errors' in document) throw new RejectedError('The files are invalid. They were not sent', document);
  const send = (isPreview: boolean): Promise<AppliedDocument> =>
    client
      .send<AppliedDocument>('POST', 'v1/admin/apply', {
        body: document.value,
        query: `dryRun=${isPreview}&prune=${isPruning}`,
      })
      .catch((error) => {
        throw withFiles(error, document.findFile);
      });
  if (mustConfirm) {
    const deletions = (await send(true)).data.filter(({ action }) => action === 'deleted');
    for (const { kind, id } of deletions) report(`- ${toPath(kind, id)}`);
    if (
      deletions.length > 0 &&
      !(await confirm?.(`Delete ${deletions.length === 1 ? 'this entry' : `these ${deletions.length} entries`}?`))
    ) {
      report('parley: No entry was changed');
      return 1;
    }
  }
  const applied = await send(isDryRun);
  showApplied(applied, flags, deps);
  return applied.data.length > 0 ? deps.differenceCode : 0;
}

/** Returns an error that names the file of each error in the document. */
function withFiles(error: unknown, findFile: (path: string) => string): unknown {
  if (!(error instanceof ServiceClientError) || error.errors.length === 0) return error;
  const { code, errors, suggestion } = error;
  // The paths of `in_use` name entries that depend on an entry of the document, but are not in the document.
  const toFile = (path: string): string => (code === 'in_use' ? '' : findFile(path));
  const sentences = ['The service rejects the document. No entry was changed', ...(suggestion === undefined ? [] : [suggestion])];
  return new RejectedError(sentences.join('. '), { code, errors: errors.map((item) => ({ file: toFile(item.path), ...item })) });
}

async function exportEntries(flags: ExportFlags, { environment, report, show }: AdministrationDeps): Promise<0> {
  const document = await openClient(flags, environment).send<JsonObject>('GET', 'v1/admin/export');
  const { value, variables } = toReferences(document, flags);
  show(flags.isJson ? JSON.stringify(value, null, 2) : formatYaml(value).trimEnd());
  if (variables.size > 0) report('Secrets are not exported. Set these variables before you apply the document:');
  for (const [name, path] of variables) report(`${name}  for ${path}`);
  return 0;
}

/** Returns a client with the key of the environment or the key file. Throws UsageError or RejectedError. */
function openClient({ url, keyFile }: ApplyFlags | ExportFlags, environment: Environment): ServiceClient {
  const address = url ?? (environment.PARLEY_URL || defaultUrl);
  if (!isHttpUrl(address)) throw new UsageError('PARLEY_URL must be a URL, such as http://127.0.0.1:8080');
  const keySource = keyFile ?? 'PARLEY_KEY';
  const key = keyFile === undefined ? environment.PARLEY_KEY : readKeyFile(keyFile);
  if (!key)
    throw new UsageError(
      keyFile === undefined
        ? 'PARLEY_KEY is not set. Set it to a key with the role admin, or auditor for diff, export, and --dry-run. Or use --key-file FILE'
        : `${keyFile} contains no key`,
    );
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new RejectedError(`The key in ${keySource} contains a space or another character that a key cannot have`, {
      errors: [],
    });
  return new ServiceClient({
    base: new URL(address),
    key,
    retrySuggestion: 'Check the address, and run the command again. It does not repeat a change that is already stored',
    getSuggestion: (status, code) => getSuggestion(keySource, status, code),
  });
}

function getSuggestion(keySource: string, status: number, code: string | undefined): string | undefined {
  if (status === 401) return `Check the key in ${keySource}`;
  if (code === 'access_denied')
    return `Give the key in ${keySource} the role admin. For diff, export, and --dry-run, the role auditor is sufficient`;
  if (code === 'in_use')
    return 'Change these entries in the same document, or delete the entry with DELETE /v1/admin/{kind}/{id}?force=true';
  if (code === 'configured_in_file') return 'Change the configuration file of the service, or remove the entry from the document';
  if (code === 'route_not_found')
    return 'This version of the service has no run-time configuration. Upgrade it, or set another address with --url';
  if (code === 'payload_too_large') return 'Split the document, and apply the parts without --prune';
  return status === 503 ? 'No entry was stored. Try again later' : undefined;
}

function readKeyFile(file: string): string {
  const keyFile = readSecretFile(resolve(file));
  if ('error' in keyFile) throw new RejectedError(`The key file ${file} ${keyFile.error}`, { errors: [] });
  return keyFile.text.trim();
}

function showApplied(applied: AppliedDocument, { isJson }: ApplyFlags, { show }: AdministrationDeps): void {
  const count = (action: AppliedWrite['action']) => applied.data.filter((write) => write.action === action).length;
  const summary = { created: count('created'), updated: count('updated'), deleted: count('deleted') };
  if (isJson) {
    show(JSON.stringify({ ...applied, summary }, null, 2));
    return;
  }
  for (const { differences } of applied.data)
    for (const difference of differences) show(escapeControls(formatDifference(difference)));
  const { created, updated, deleted } = summary;
  if (applied.dryRun) show(`${created} to create, ${updated} to update, ${deleted} to delete`);
  else
    show(
      `${created} created, ${updated} updated, ${deleted} deleted${applied.change === null ? '' : ` (change ${applied.change})`}`,
    );
}

function toPath(kind: string, id: string): string {
  return formatPath([isEntryKind(kind) ? entryKinds[kind].section : kind, id]);
}

const maxValueChars = 200;
/** Characters of a long text before its first difference. */
const contextChars = 20;

/** Returns a line such as `~ models.gpt.displayName: "GPT" → "GPT 5"`. The service has already masked secrets. */
export function formatDifference({ path, before, after }: AppliedWrite['differences'][number]): string {
  if (before === undefined) return `+ ${path}: ${formatValue(after)}`;
  if (after === undefined) return `- ${path}: ${formatValue(before)}`;
  if (isDeepStrictEqual(before, after)) return `~ ${path}: the secret changes`;
  const start = countEqualStart(JSON.stringify(before), JSON.stringify(after));
  return `~ ${path}: ${formatValue(before, start)} → ${formatValue(after, start)}`;
}

/** Returns a value as JSON. A long value is shortened, but contains the text at `start`. */
function formatValue(value: unknown, start = 0): string {
  const text = JSON.stringify(value);
  if (text.length <= maxValueChars) return text;
  const skipped = Math.max(0, start - contextChars);
  return `${skipped > 0 ? '…' : ''}${truncate(text.slice(skipped), maxValueChars)}`;
}

function countEqualStart(before: string, after: string): number {
  let length = 0;
  while (length < before.length && before[length] === after[length]) length += 1;
  return length;
}

/** Escapes characters that a terminal interprets, or that change the direction of a text. */
function escapeControls(line: string): string {
  return line.replaceAll(
    /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Asks a question on stderr. Resolves with true for `y` or `yes`, and with false for another answer or the end of the input. */
export function readAnswer(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  return new Promise((resolve) => {
    lines.once('close', () => resolve(false));
    lines.question(`${question} [y/N] `, (answer) => {
      resolve(/^y(es)?$/i.test(answer.trim()));
      lines.close();
    });
  });
}
