import { Icon } from '../parts/icon.tsx';
import { type Language, languages, nameOf, useSpeech } from '../words/words.tsx';
import { type Appearance, appearances } from './appearance.ts';
import { usePage } from './page.tsx';

interface SettingsMenuProps {
  readonly appearance: Appearance;
  readonly setAppearance: (next: Appearance) => void;
}

/** How the page looks and speaks, and the way out. */
export function SettingsMenu({ appearance, setAppearance }: SettingsMenuProps) {
  const { words, language, speak } = useSpeech();
  const { signOut } = usePage();
  const names: Record<Appearance, string> = { system: words.followSystem, light: words.light, dark: words.dark };
  return (
    <details className="settings">
      <summary className="quiet-link">
        <Icon name="sliders" />
        {words.settings}
      </summary>
      <div className="settings-body">
        <Choice
          name={words.appearance}
          value={appearance}
          options={appearances.map((each) => [each, names[each]])}
          choose={setAppearance}
        />
        <Choice<Language>
          {...{ name: words.languageOf, value: language, choose: speak }}
          options={languages.map((each) => [each, nameOf(each)])}
        />
        <button type="button" className="quiet-link" onClick={signOut}>
          <Icon name="leave" />
          {words.signOut}
        </button>
      </div>
    </details>
  );
}

interface ChoiceProps<Value extends string> {
  readonly name: string;
  readonly value: Value;
  readonly options: readonly (readonly [Value, string])[];
  readonly choose: (value: Value) => void;
}

function Choice<Value extends string>({ name, value, options, choose }: ChoiceProps<Value>) {
  return (
    <fieldset className="choice">
      <legend className="overline">{name}</legend>
      <div className="segments">
        {options.map(([each, label]) => (
          <label key={each}>
            <input type="radio" name={name} checked={each === value} onChange={() => choose(each)} />
            <span>{label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
