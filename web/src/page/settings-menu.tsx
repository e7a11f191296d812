import { useRef, useState } from 'react';
import { DisplayItem } from '../display/display-item.tsx';
import { useCommands } from '../palette/use-commands.ts';
import { Icon } from '../parts/icon.tsx';
import { useConfirmation } from '../parts/question-dialog.tsx';
import { Segments } from '../parts/segments.tsx';
import { ShareButton } from '../share/share-button.tsx';
import type { Strings } from '../strings/english.ts';
import { getLanguageName, type Language, languages, useLanguage } from '../strings/strings.tsx';
import { TransferItem } from '../transfer/transfer-item.tsx';
import { type Appearance, appearances } from './appearance.ts';
import { usePage } from './page.tsx';

interface SettingsMenuProps {
  readonly appearance: Appearance;
  readonly setAppearance: (next: Appearance) => void;
}

const keyPrefix = 'key:';

/** All keys of a project are one user (docs/wire.md, Credentials). */
function formatUser(user: string, strings: Strings): string {
  return user.startsWith(keyPrefix) ? strings.signedInWithKey(user.slice(keyPrefix.length)) : strings.signedInAs(user);
}

/** Appearance, language, and sign-out. */
export function SettingsMenu({ appearance, setAppearance }: SettingsMenuProps) {
  const { strings, language, setLanguage } = useLanguage();
  const { signOut, library, replyRunner, go, user } = usePage();
  const { askConfirmation, dialog } = useConfirmation();
  const [isFailed, setIsFailed] = useState(false);
  const removeAll = async (): Promise<void> => {
    if (!(await askConfirmation(strings.deleteAllQuestion, strings.confirmDelete))) return;
    replyRunner.stopAll();
    await library.removeAll().then(
      () => go({ at: 'new' }),
      () => setIsFailed(true),
    );
  };
  const menu = useRef<HTMLDetailsElement>(null);
  const open = (): void => {
    // If the sidebar is a drawer, it must be opened first.
    const drawer = document.querySelector<HTMLElement>('.page-header .narrow-only');
    if (drawer?.checkVisibility()) drawer.click();
    requestAnimationFrame(() => {
      if (menu.current === null) return;
      menu.current.open = true;
      menu.current.querySelector('summary')?.focus();
    });
  };
  const names: Record<Appearance, string> = { system: strings.followSystem, light: strings.light, dark: strings.dark };
  useCommands(() => [
    { id: 'settings', title: strings.settings, kind: 'action', icon: 'sliders', run: open },
    ...appearances.map((each) => ({
      ...({ id: `appearance ${each}`, title: `${strings.appearance}: ${names[each]}`, kind: 'action', icon: 'sliders' } as const),
      run: () => setAppearance(each),
    })),
    ...languages.map((each) => ({
      ...({
        id: `language ${each}`,
        title: `${strings.language}: ${getLanguageName(each)}`,
        kind: 'action',
        icon: 'speech',
      } as const),
      run: () => setLanguage(each),
    })),
    { id: 'delete all', title: strings.deleteAll, kind: 'action', icon: 'trash', run: () => void removeAll() },
    { id: 'sign out', title: strings.signOut, kind: 'action', icon: 'leave', run: signOut },
  ]);
  return (
    <details
      ref={menu}
      className="settings"
      onToggle={() => menu.current?.open && menu.current.scrollIntoView({ block: 'nearest' })}
    >
      <summary className="quiet-link">
        <Icon name="sliders" />
        {strings.settings}
      </summary>
      <div className="settings-body">
        <p className="soft small">{formatUser(user, strings)}</p>
        <Segments
          name={strings.appearance}
          value={appearance}
          options={appearances.map((each) => [each, names[each]])}
          onSelect={setAppearance}
        />
        <Segments<Language>
          {...{ name: strings.language, value: language, onSelect: setLanguage }}
          options={languages.map((each) => [each, getLanguageName(each)])}
        />
        <DisplayItem />
        <TransferItem />
        <ShareButton />
        <button type="button" className="quiet-link" onClick={() => void removeAll()}>
          <Icon name="trash" />
          {strings.deleteAll}
        </button>
        {isFailed && <p className="trouble small">{strings.deleteAllFailed}</p>}
        {dialog}
        <button type="button" className="quiet-link" onClick={signOut}>
          <Icon name="leave" />
          {strings.signOut}
        </button>
      </div>
    </details>
  );
}
