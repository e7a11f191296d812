import { useRef, useState } from 'react';
import { DisplayItem } from '../display/display-item.tsx';
import { useCommands } from '../palette/use-commands.ts';
import { Icon } from '../parts/icon.tsx';
import { useQuestion } from '../parts/question-dialog.tsx';
import { Segments } from '../parts/segments.tsx';
import { ShareButton } from '../share/share-button.tsx';
import { TransferItem } from '../transfer/transfer-item.tsx';
import type { Words } from '../words/english.ts';
import { type Language, languages, nameOf, useLanguage } from '../words/words.tsx';
import { type Appearance, appearances } from './appearance.ts';
import { usePage } from './page.tsx';

interface SettingsMenuProps {
  readonly appearance: Appearance;
  readonly setAppearance: (next: Appearance) => void;
}

const ofKey = 'key:';

/** Who signed in: all keys of a project are one user (docs/wire.md, Credentials). */
function whoIs(user: string, words: Words): string {
  return user.startsWith(ofKey) ? words.signedInWithKey(user.slice(ofKey.length)) : words.signedInAs(user);
}

/** How the page looks and speaks, and the way out. */
export function SettingsMenu({ appearance, setAppearance }: SettingsMenuProps) {
  const { words, language, speak } = useLanguage();
  const { signOut, library, asking, go, user } = usePage();
  const { ask, dialog } = useQuestion();
  const [isFailed, setIsFailed] = useState(false);
  const removeAll = async (): Promise<void> => {
    if (!(await ask(words.deleteAllQuestion, words.deleteForGood))) return;
    asking.stopAll();
    await library.removeAll().then(
      () => go({ at: 'new' }),
      () => setIsFailed(true),
    );
  };
  const menu = useRef<HTMLDetailsElement>(null);
  const open = (): void => {
    // Where the sidebar is a drawer, it has to be open first.
    const drawer = document.querySelector<HTMLElement>('.page-header .narrow-only');
    if (drawer?.checkVisibility()) drawer.click();
    requestAnimationFrame(() => {
      if (menu.current === null) return;
      menu.current.open = true;
      menu.current.querySelector('summary')?.focus();
    });
  };
  const names: Record<Appearance, string> = { system: words.followSystem, light: words.light, dark: words.dark };
  useCommands(() => [
    { id: 'settings', title: words.settings, kind: 'action', icon: 'sliders', run: open },
    ...appearances.map((each) => ({
      ...({ id: `appearance ${each}`, title: `${words.appearance}: ${names[each]}`, kind: 'action', icon: 'sliders' } as const),
      run: () => setAppearance(each),
    })),
    ...languages.map((each) => ({
      ...({ id: `language ${each}`, title: `${words.languageOf}: ${nameOf(each)}`, kind: 'action', icon: 'speech' } as const),
      run: () => speak(each),
    })),
    { id: 'delete all', title: words.deleteAll, kind: 'action', icon: 'trash', run: () => void removeAll() },
    { id: 'sign out', title: words.signOut, kind: 'action', icon: 'leave', run: signOut },
  ]);
  return (
    <details
      ref={menu}
      className="settings"
      onToggle={() => menu.current?.open && menu.current.scrollIntoView({ block: 'nearest' })}
    >
      <summary className="quiet-link">
        <Icon name="sliders" />
        {words.settings}
      </summary>
      <div className="settings-body">
        <p className="soft small">{whoIs(user, words)}</p>
        <Segments
          name={words.appearance}
          value={appearance}
          options={appearances.map((each) => [each, names[each]])}
          choose={setAppearance}
        />
        <Segments<Language>
          {...{ name: words.languageOf, value: language, choose: speak }}
          options={languages.map((each) => [each, nameOf(each)])}
        />
        <DisplayItem />
        <TransferItem />
        <ShareButton />
        <button type="button" className="quiet-link" onClick={() => void removeAll()}>
          <Icon name="trash" />
          {words.deleteAll}
        </button>
        {isFailed && <p className="trouble small">{words.deleteAllFailed}</p>}
        {dialog}
        <button type="button" className="quiet-link" onClick={signOut}>
          <Icon name="leave" />
          {words.signOut}
        </button>
      </div>
    </details>
  );
}
