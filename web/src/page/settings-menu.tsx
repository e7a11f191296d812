import { useState } from 'react';
import { Icon } from '../parts/icon.tsx';
import { Segments } from '../parts/segments.tsx';
import { useQuestion } from '../parts/use-question.tsx';
import { type Language, languages, nameOf, useLanguage } from '../words/words.tsx';
import { type Appearance, appearances } from './appearance.ts';
import { usePage } from './page.tsx';

interface SettingsMenuProps {
  readonly appearance: Appearance;
  readonly setAppearance: (next: Appearance) => void;
}

/** How the page looks and speaks, and the way out. */
export function SettingsMenu({ appearance, setAppearance }: SettingsMenuProps) {
  const { words, language, speak } = useLanguage();
  const { signOut, library, asking, go } = usePage();
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
  const names: Record<Appearance, string> = { system: words.followSystem, light: words.light, dark: words.dark };
  return (
    <details className="settings">
      <summary className="quiet-link">
        <Icon name="sliders" />
        {words.settings}
      </summary>
      <div className="settings-body">
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
