import { type MouseEvent, useId, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { hasAppDrafts } from '../chat/composer/drafts.ts';
import type { PaletteCommand } from '../palette/command-registry.ts';
import { DialogButton } from '../palette/dialog-button.tsx';
import { useCommands } from '../palette/use-commands.ts';
import { Icon, TextButton } from '../parts/icon.tsx';
import { lazyView } from '../parts/lazy-view.tsx';
import { useConfirmation } from '../parts/question-dialog.tsx';
import { Segments } from '../parts/segments.tsx';
import { ShareButton } from '../share/share-button.tsx';
import { getLanguageName, type Language, languages, useLanguage } from '../strings/strings.tsx';
import { type Appearance, appearances } from './appearance.ts';
import { getKeyTeam, usePage } from './page.tsx';

const DisplayDialog = lazyView(() => import('../display/display-dialog.tsx').then(({ DisplayDialog: view }) => view));
const MemoryDialog = lazyView(() => import('../memory/memory-dialog.tsx').then(({ MemoryDialog: view }) => view));
const TransferDialog = lazyView(() => import('../transfer/transfer-dialog.tsx').then(({ TransferDialog: view }) => view));

interface SettingsMenuProps {
  readonly appearance: Appearance;
  readonly setAppearance: (next: Appearance) => void;
}

/**
 * Appearance, language, and sign-out. The dialog is always rendered, because its items add commands to the palette. A click outside
 * does not close it, so that a double click on its button does not close it again.
 */
export function SettingsMenu({ appearance, setAppearance }: SettingsMenuProps) {
  const { strings, language, setLanguage } = useLanguage();
  const { signOut, library, replyRunner, go, user, storesFiles } = usePage();
  const { askConfirmation, dialog } = useConfirmation();
  const [isFailed, setIsFailed] = useState(false);
  const settings = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const team = getKeyTeam(user);
  const open = (): void => settings.current?.showModal();
  const close = (): void => settings.current?.close();
  // The second press of a double click on the button would select the heading.
  const onMouseDown = (event: MouseEvent): void => {
    if (event.detail > 1 && event.target === event.currentTarget) event.preventDefault();
  };
  const removeAll = async (): Promise<void> => {
    if (!(await askConfirmation(strings.deleteAllQuestion, strings.confirmDelete))) return;
    replyRunner.stopAll();
    await library.removeAll().then(
      () => go({ at: 'new' }),
      () => {
        setIsFailed(true);
        open();
      },
    );
  };
  const askToSignOut = async (): Promise<void> => {
    const question = team === undefined ? strings.signOutQuestion : strings.signOutWithKeyQuestion;
    const loss = hasAppDrafts(user) ? ` ${strings.signOutDeletesDrafts}` : '';
    if (await askConfirmation(question + loss, strings.signOut)) signOut();
  };
  const names: Record<Appearance, string> = { system: strings.followSystem, light: strings.light, dark: strings.dark };
  useCommands(() => [
    { id: 'settings', title: strings.settings, kind: 'action', icon: 'gear', run: open },
    ...appearances.map(
      (mode): PaletteCommand => ({
        id: `appearance ${mode}`,
        title: `${strings.appearance}: ${names[mode]}`,
        kind: 'action',
        icon: 'gear',
        run: () => setAppearance(mode),
      }),
    ),
    ...languages.map(
      (option): PaletteCommand => ({
        id: `language ${option}`,
        title: `${strings.language}: ${getLanguageName(option)}`,
        kind: 'action',
        icon: 'speech',
        run: () => setLanguage(option),
      }),
    ),
    { id: 'delete all', title: strings.deleteAll, kind: 'action', icon: 'trash', run: () => void removeAll() },
    { id: 'sign out', title: strings.signOut, kind: 'action', icon: 'leave', run: () => void askToSignOut() },
  ]);
  return (
    <>
      <button type="button" className="quiet-link" aria-haspopup="dialog" onClick={open}>
        <Icon name="gear" />
        {strings.settings}
      </button>
      {createPortal(
        <dialog {...{ ref: settings, className: 'settings', 'aria-labelledby': titleId, closedby: 'closerequest', onMouseDown }}>
          <h2 id={titleId}>{strings.settings}</h2>
          <p className="soft small">{team === undefined ? strings.signedInAs(user) : strings.signedInWithKey(team)}</p>
          <Segments
            name={strings.appearance}
            value={appearance}
            options={appearances.map((mode) => [mode, names[mode]])}
            onSelect={setAppearance}
          />
          <Segments<Language>
            {...{ name: strings.language, value: language, onSelect: setLanguage }}
            options={languages.map((option) => [option, getLanguageName(option)])}
          />
          {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keys act on the buttons inside, whose clicks arrive here */}
          {/* biome-ignore lint/a11y/noStaticElementInteractions: see above */}
          <div className="settings-items" onClick={close}>
            {storesFiles && (
              <DialogButton {...{ id: 'memory', icon: 'edit', title: strings.memory, form: 'line' }}>
                {(closeDialog) => <MemoryDialog close={closeDialog} />}
              </DialogButton>
            )}
            <DialogButton {...{ id: 'display', icon: 'text', title: strings.display, form: 'line' }}>
              {(closeDialog) => <DisplayDialog close={closeDialog} />}
            </DialogButton>
            <DialogButton {...{ id: 'transfer', icon: 'save', title: strings.transfer, form: 'line' }}>
              {(closeDialog) => <TransferDialog close={closeDialog} />}
            </DialogButton>
            <ShareButton />
            <button type="button" className="quiet-link" onClick={() => void removeAll()}>
              <Icon name="trash" />
              {strings.deleteAll}
            </button>
            {isFailed && <p className="error-text small">{strings.deleteAllFailed}</p>}
            <button type="button" className="quiet-link" onClick={() => void askToSignOut()}>
              <Icon name="leave" />
              {strings.signOut}
            </button>
          </div>
          <div className="row end">
            <TextButton className="button primary" onClick={close}>
              {strings.close}
            </TextButton>
          </div>
        </dialog>,
        document.body,
      )}
      {dialog}
    </>
  );
}
