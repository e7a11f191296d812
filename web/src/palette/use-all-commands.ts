import { useState } from 'react';
import { usePage } from '../page/page.tsx';
import type { Place } from '../page/place.ts';
import type { IconName } from '../parts/icon.tsx';
import type { Words } from '../words/english.ts';
import { useWords } from '../words/words.tsx';
import type { Command } from './command-registry.ts';
import { useFollow } from './use-follow.ts';

/** All there is, as it is when somebody begins to look: what can be done, pages, conversations, whom to talk to. */
export function useAllCommands(): readonly Command[] {
  const words = useWords();
  const { commands, library, deployments, isAdmin } = usePage();
  const follow = useFollow();
  const collect = (): readonly Command[] => [
    ...commands.all(),
    ...views(words, isAdmin).map(([place, title, icon]) => ({
      ...{ id: `view ${place.at}`, kind: 'view' as const, title, icon },
      run: () => follow(place),
    })),
    ...library.heads().map(({ id, title }) => ({
      ...{ id: `chat ${id}`, kind: 'conversation' as const, icon: 'speech' as const, title: title || words.untitled },
      run: () => follow({ at: 'conversation', id }),
    })),
    ...deployments.map(({ id, name, isApplication }) => ({
      ...({ id: `deployment ${id}`, kind: 'deployment' as const, title: name, icon: isApplication ? 'build' : 'spark' } as const),
      run: () => follow({ at: 'new', deployment: id }),
    })),
  ];
  return useState(collect)[0];
}

function views(words: Words, isAdmin: boolean): readonly (readonly [Place, string, IconName])[] {
  return [
    [{ at: 'temporary' }, words.temporaryChat, 'hourglass'],
    [{ at: 'applications' }, words.applicationsPage, 'build'],
    [{ at: 'consents' }, words.consentPage, 'shield'],
    [{ at: 'files' }, words.filesPage, 'file'],
    [{ at: 'usage' }, words.usagePage, 'bars'],
    [{ at: 'background' }, words.backgroundPage, 'clock'],
    ...(isAdmin ? ([[{ at: 'operations' }, words.operationsPage, 'pulse']] as const) : []),
  ];
}
