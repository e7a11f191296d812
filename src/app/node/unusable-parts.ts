import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { QuickAppToolset } from '#domain/quick-app/quick-app.ts';
import type { UnusablePart } from '#domain/quick-app/unusable-part.ts';
import type { Reason } from '#surfaces/ops/routes.ts';

const maxParts = 5;
const maxNameLength = 100;

/** The parts of configured quick apps that turned out to be unusable, as far as a call or a document reading found out. */
export class UnusableParts {
  readonly #parts = new Map<string, UnusablePart>();
  readonly #snapshot: () => ConfigSnapshot;

  constructor(snapshot: () => ConfigSnapshot) {
    this.#snapshot = snapshot;
  }

  /** Stores the present state of a part. Returns a log line if the state is new, else undefined. */
  note(part: UnusablePart): string | undefined {
    const key = toKey(part);
    const known = this.#parts.get(key);
    const isUsable = part.kind === 'tools' ? part.names.length === 0 : part.failure === undefined;
    if (isUsable || !this.#isNamed(part)) {
      if (known !== undefined) this.#parts.delete(key);
      return undefined;
    }
    const sentence = toSentence(part);
    if (known !== undefined && toSentence(known) === sentence) return undefined;
    this.#parts.set(key, part);
    return sentence;
  }

  get reasons(): readonly Reason[] {
    const named = [...this.#parts.values()].filter((part) => this.#isNamed(part));
    return named.map((part) => ({
      code: part.kind === 'tools' ? 'tool_missing' : 'document_unreadable',
      message: toSentence(part),
    }));
  }

  /** Returns whether the configuration in force still names it. */
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
  if (part.kind === 'document') return `${part.application} cannot look anything up in ${part.reference}: ${part.failure}`;
  const { application, toolset, names } = part;
  const listed = names.slice(0, maxParts).map((name) => name.slice(0, maxNameLength));
  const more = names.length > maxParts ? ', …' : '';
  return `allowed_tools of ${application} names tools that the MCP server ${toolset} does not have: ${listed.join(', ')}${more}`;
}
