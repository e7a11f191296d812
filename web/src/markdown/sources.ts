import { createContext } from 'react';

/** What numbers in a text lead to. */
export interface Sources {
  /** What a number stands for; undefined for nothing. */
  readonly getName: (number: number) => string | undefined;
  readonly show: (number: number) => void;
}

/** Undefined where numbers are but numbers. */
export const SourcesContext = createContext<Sources | undefined>(undefined);
