import type { IconName } from '../parts/icon.tsx';

/** Something that can be done, or gone to, by its name. */
export interface Command {
  /** Unique among all of them. */
  readonly id: string;
  readonly title: string;
  readonly kind: 'action' | 'view' | 'deployment' | 'conversation';
  readonly icon: IconName;
  readonly run: () => void;
}

/** The commands of the parts that are shown; asked for when somebody looks for one. */
export class CommandRegistry {
  readonly #sources = new Set<() => readonly Command[]>();

  /** Gives what takes them away again. */
  add(source: () => readonly Command[]): () => void {
    this.#sources.add(source);
    return () => this.#sources.delete(source);
  }

  all(): readonly Command[] {
    return [...this.#sources].flatMap((source) => source());
  }
}
