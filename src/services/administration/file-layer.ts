import { type JsonBounds, parseJson } from '#base/json/json.ts';
import { formatConfigurationError, type ValidConfiguration } from '#contract/configuration/checked-configuration.ts';
import type { StoredFiles } from '#domain/administration/entry-store.ts';
import type { NodeRecord } from '#domain/administration/node-record.ts';
import type { CheckConfiguration } from './configuration-layers.ts';

/** Bounds for the JSON of a configuration from another process of Parley, which has already checked it. */
export const checkedConfigurationBounds: JsonBounds = { maxDepth: 100, maxNodes: Number.POSITIVE_INFINITY };

export interface FileLayerDeps {
  /** Valid configuration of the files that this node read at its start. */
  readonly nodeFiles: ValidConfiguration;
  readonly check: CheckConfiguration;
  /** Returns a digest of files that does not reveal their content. */
  readonly digestFiles: (text: string) => string;
  readonly nodes: {
    readonly isComplete: boolean;
    announceConfiguration(digest: string): Promise<void>;
    list(): Promise<readonly NodeRecord[]>;
  };
  /** Called when this node starts to use files of another node. */
  readonly onApplied: () => void;
  readonly reportError: (message: string, error: unknown) => void;
}

/** Files that this node read. */
interface OwnFiles {
  readonly digest: string;
  /** Complete configuration as JSON. */
  readonly text: string;
  readonly valid: ValidConfiguration;
}

/** The files of this node, and the stored files that are in force on all nodes. */
export class FileLayer {
  readonly #deps: FileLayerDeps;
  #own: OwnFiles;
  #storedFiles: { readonly digest: string; readonly isOwn: boolean } | undefined;
  /** Whether the files of this node changed while it runs, and are not stored yet. */
  #isChanged = false;
  #announcedDigest: string | undefined;

  constructor(deps: FileLayerDeps) {
    this.#deps = deps;
    this.#own = this.#toOwn(deps.nodeFiles);
  }

  /** Whether this node uses files that differ from those that it read. */
  get usesOtherFiles(): boolean {
    return this.#storedFiles !== undefined && !this.#storedFiles.isOwn && !this.#isChanged;
  }

  /** Called with changed files that this node read while it runs. They replace the stored files of all nodes. */
  replaceOwnFiles(valid: ValidConfiguration): void {
    this.#own = this.#toOwn(valid);
    const { digest } = this.#storedFiles ?? {};
    const isOwn = digest === this.#own.digest;
    this.#storedFiles = digest === undefined ? undefined : { digest, isOwn };
    this.#isChanged = !isOwn;
  }

  /** Returns the configuration of stored files, or undefined if this node cannot use them or must replace them. */
  apply(files: StoredFiles): ValidConfiguration | undefined {
    const { valid, text } = this.#own;
    const next = files.text === text ? valid : this.#check(files);
    // Files that another version of Parley stored can lack defaults of this version.
    const isOwn = next !== undefined && JSON.stringify(next.configuration) === text;
    this.#storedFiles = { digest: files.digest, isOwn };
    if (isOwn) return valid;
    if (next === undefined || this.#isChanged) return undefined;
    this.#deps.onApplied();
    return next;
  }

  /**
   * Returns the files of this node if they must replace the stored ones: they changed while the node runs, or no running node
   * read the stored ones. While the list of nodes is incomplete, a running node can be missing from it. Throws `StoreError`.
   */
  async findReplacement(): Promise<Pick<OwnFiles, 'digest' | 'text'> | undefined> {
    const { digest, text } = this.#own;
    await this.#announce();
    if (this.#storedFiles?.isOwn) {
      this.#isChanged = false;
      return undefined;
    }
    if (this.#storedFiles === undefined || this.#isChanged) return { digest, text };
    if (!this.#deps.nodes.isComplete) return undefined;
    const running = await this.#deps.nodes.list();
    return running.some(({ filesDigest }) => filesDigest === this.#storedFiles?.digest) ? undefined : { digest, text };
  }

  /** Announces the files of this node before they are stored, so that other nodes do not replace them. */
  async #announce(): Promise<void> {
    // The digest of equal files depends on the newest secret, so the stored one is announced.
    const digest = this.#storedFiles?.isOwn ? this.#storedFiles.digest : this.#own.digest;
    if (digest === this.#announcedDigest) return;
    await this.#deps.nodes.announceConfiguration(digest);
    this.#announcedDigest = digest;
  }

  /** Returns undefined if the files are not valid for this version, or were sealed with another secret. */
  #check({ text }: StoredFiles): ValidConfiguration | undefined {
    if (text === undefined) return undefined;
    const checked = this.#deps.check(parseJson(text, checkedConfigurationBounds));
    if (!('errors' in checked)) return checked;
    for (const error of checked.errors)
      this.#deps.reportError(`rejected the configuration of another node: ${formatConfigurationError(error)}`, undefined);
    return undefined;
  }

  #toOwn(valid: ValidConfiguration): OwnFiles {
    const text = JSON.stringify(valid.configuration);
    return { valid, text, digest: this.#deps.digestFiles(text) };
  }
}
