import { formatPath, type Path } from '#contract/configuration/fault.ts';

/** One thing that is told of an import. */
export interface Note {
  /** Where it stands in the files that are imported. */
  readonly path: Path;
  /** Goes on where the path ends; never repeats a value, which may be secret. */
  readonly message: string;
  /** Whether something is lost by it, or means something else now. */
  readonly isLoss: boolean;
}

/** What is told of an import, in the order of its findings; once for each place and message. */
export class Notes {
  readonly #notes = new Map<string, Note>();

  /** Something that could not be carried, or means something else now; `advice` is what to do. */
  lose(path: Path, message: string, advice?: string): void {
    this.#add({ path, message: advice === undefined ? message : `${message}; ${advice}`, isLoss: true });
  }

  /** Something that is carried, and needs a hand. */
  mention(path: Path, message: string): void {
    this.#add({ path, message, isLoss: false });
  }

  get all(): readonly Note[] {
    return [...this.#notes.values()];
  }

  #add(note: Note): void {
    const key = `${formatPath(note.path)} ${note.message}`;
    if (!this.#notes.has(key)) this.#notes.set(key, note);
  }
}
