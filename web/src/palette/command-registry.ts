import type { IconName } from '../parts/icon.tsx';

/** A named action or navigation target. */
export interface PaletteCommand {
  /** Unique among all commands. */
  readonly id: string;
  readonly title: string;
  readonly kind: 'action' | 'view' | 'deployment' | 'conversation' | 'file';
  readonly icon: IconName;
  readonly run: () => void;
}

/** Commands of the visible parts of the page. They are collected when the palette opens. */
export class CommandRegistry {
  readonly #sources = new Set<() => readonly PaletteCommand[]>();

  /** Adds a source of commands. Returns a function that removes it. */
  add(source: () => readonly PaletteCommand[]): () => void {
    this.#sources.add(source);
    return () => this.#sources.delete(source);
  }

  list(): readonly PaletteCommand[] {
    return [...this.#sources].flatMap((source) => source());
  }
}
