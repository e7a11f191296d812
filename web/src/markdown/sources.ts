import { createContext } from 'react';

/** Targets of citation numbers. */
export interface Sources {
  /** Returns the name of a source, or undefined. */
  readonly getName: (number: number) => string | undefined;
  readonly show: (number: number) => void;
}

/** Undefined if numbers are not citations. */
export const SourcesContext = createContext<Sources | undefined>(undefined);
