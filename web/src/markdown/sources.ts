import { createContext } from 'react';

/** Targets of citation numbers. */
export interface Sources {
  /** Returns the displayed number and the name of a source, by the number in the text. */
  readonly find: (cited: number) => { readonly number: number; readonly name: string } | undefined;
  readonly show: (number: number) => void;
}

/** Undefined if numbers are not citations. */
export const SourcesContext = createContext<Sources | undefined>(undefined);
