import { applicationPrefix } from '#domain/deployments/application-location.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { QuickAppToolset, UnusablePart } from '#domain/quick-app/quick-app.ts';
import type { Reason } from '#surfaces/ops/routes.ts';

const maxNameLength = 100;
const maxNames = 5;
/** Maximum number of applications whose log lines are remembered, because users can save any number of applications. */
const maxLogged = 1000;

/** Unusable parts of configured quick apps that a call or an indexing run has detected. */
export class UnusableParts {
  readonly #parts = new Map<string, UnusablePart>();
  readonly #snapshot: () => ConfigSnapshot;

  constructor(snapshot: () => ConfigSnapshot) {
    this.#snapshot = snapshot;
  }

  /** Stores the current state of a part. Returns a log line if the part is unusable and the reason is new. */
  record(part: UnusablePart): string | undefined {
    const key = toKey(part);
    const existing = this.#parts.get(key);
    const isUsable = part.kind === 'tools' ? part.names.length === 0 : part.failure === undefined;
    if (isUsable || !this.#isNamed(part)) {
      if (existing !== undefined) this.#parts.delete(key);
      return undefined;
    }
    const sentence = toSentence(part);
    if (existing !== undefined && toSentence(existing) === sentence) return undefined;
    this.#parts.set(key, part);
    return sentence;
  }

  get reasons(): readonly Reason[] {
    const namedParts = [...this.#parts.values()].filter((part) => this.#isNamed(part));
    return namedParts.map((part) => ({
      code: part.kind === 'tools' ? 'tool_missing' : 'document_unreadable',
      message: toSentence(part),
    }));
  }

  /** Returns whether the current configuration still names the part. */
  #isNamed(part: UnusablePart): boolean {
    const { quickApp, ownership } = this.#snapshot().deployments.get(part.application) ?? {};
    return ownership === null && (quickApp?.toolsets ?? []).some((toolset) => isNamedBy(toolset, part));
  }
}

function isNamedBy(toolset: QuickAppToolset, part: UnusablePart): boolean {
  if (part.kind === 'document') return toolset.kind === 'documents' && toolset.files.includes(part.reference);
  if (toolset.kind !== 'mcp' || toolset.name !== part.toolset) return false;
  return part.names.every((name) => toolset.allowedTools?.includes(name));
}

function toKey(part: UnusablePart): string {
  return JSON.stringify([part.kind, part.application, part.kind === 'tools' ? part.toolset : part.reference]);
}

function toSentence(part: UnusablePart): string {
  if (part.kind === 'document') return `${part.application} cannot search ${part.reference}: ${part.failure}`;
  const { application, toolset, names } = part;
  const shortNames = names.slice(0, maxNames).map((name) => name.slice(0, maxNameLength));
  const suffix = names.length > maxNames ? ', …' : '';
  return `allowed_tools of ${application} names tools that the MCP server ${toolset} does not have: ${shortNames.join(', ')}${suffix}`;
}

/** Documents that configured applications name, but that a lookup did not find. */
export class MissingDocuments {
  readonly #byApplication = new Map<string, readonly string[]>();
  /** References that were logged under the current configuration, also for saved applications. */
  readonly #loggedReferences = new Map<string, ReadonlySet<string>>();
  #configuration: object | undefined;
  readonly #snapshot: () => ConfigSnapshot;

  constructor(snapshot: () => ConfigSnapshot) {
    this.#snapshot = snapshot;
  }

  /**
   * Records all documents that an application lacks now. Returns one log line about documents that were not yet logged under the
   * current configuration, or undefined if there are none.
   */
  record(application: string, references: readonly string[]): string | undefined {
    if (references.length === 0) this.#byApplication.delete(application);
    else if (!application.startsWith(applicationPrefix)) this.#byApplication.set(application, references);
    const added = this.#findUnlogged(application, references);
    const [first] = added;
    if (first === undefined || added.length === 1) return first && toMissingSentence(application, first);
    const suffix = added.length > maxNames ? ', …' : '';
    return `${application} names ${added.length} documents that are not stored: ${added.slice(0, maxNames).join(', ')}${suffix}`;
  }

  #findUnlogged(application: string, references: readonly string[]): readonly string[] {
    const { configuration } = this.#snapshot();
    if (configuration !== this.#configuration) this.#loggedReferences.clear();
    this.#configuration = configuration;
    const logged = this.#loggedReferences.get(application) ?? new Set();
    this.#loggedReferences.delete(application);
    if (references.length > 0) this.#loggedReferences.set(application, new Set(references));
    for (const oldest of [...this.#loggedReferences.keys()].slice(0, -maxLogged)) this.#loggedReferences.delete(oldest);
    return references.filter((reference) => !logged.has(reference));
  }

  get reasons(): readonly Reason[] {
    const { deployments } = this.#snapshot();
    return [...this.#byApplication].flatMap(([application, references]) => {
      const { quickApp } = deployments.get(application) ?? {};
      const namedFiles = (quickApp?.toolsets ?? []).flatMap((toolset) => (toolset.kind === 'documents' ? toolset.files : []));
      const missing = references.filter((reference) => namedFiles.includes(reference));
      return missing.map((reference) => ({ code: 'document_missing', message: toMissingSentence(application, reference) }));
    });
  }
}

function toMissingSentence(application: string, reference: string): string {
  return `${application} names the document ${reference}, which is not stored. Upload it`;
}
