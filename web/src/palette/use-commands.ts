import { useEffect, useRef } from 'react';
import { usePage } from '../shell/page.tsx';
import type { PaletteCommand } from './command-registry.ts';

/** Adds the commands of a part of the page to the palette while the part is rendered. */
export function useCommands(source: () => readonly PaletteCommand[]): void {
  const { commands } = usePage();
  const latest = useRef(source);
  useEffect(() => {
    latest.current = source;
  });
  useEffect(() => commands.add(() => latest.current()), [commands]);
}
