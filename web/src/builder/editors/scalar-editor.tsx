import { useState } from 'react';
import { type JsonObject, toObject, toText, tryParseJson } from '#base/json/json.ts';
import { toLocalInput } from '../../forms/form-value.ts';
import { useFormsStrings } from '../../forms/forms-strings.ts';
import { TextButton } from '../../parts/icon.tsx';
import { useBuilderStrings, useSchemaTranslation } from '../builder-strings.ts';
import { type EditorProps, toElementId } from './form.ts';
import { FieldFrame } from './frame.tsx';
import { formKeywords, type Shape, secretPlaceholder } from './shape.ts';

type ScalarEditorProps<Kind extends Shape['kind']> = EditorProps & { readonly shape: Shape & { readonly kind: Kind } };

const longTextKeys = new Set(['instructions', 'description', 'content']);

export function TextEditor(props: ScalarEditorProps<'text'>) {
  const { schema, value, path, form, label, hint, isLabelHidden } = props;
  const key = path.at(-1);
  const text = toText(value);
  const isLong = longTextKeys.has(String(key));
  // A required long text may be empty, unless the schema has a minimum length.
  const isRequired = props.isRequired && !(isLong && schema.minLength === undefined);
  const change = (next: string): void => form.change(path, next === '' && !props.isRequired ? undefined : next);
  if (props.shape.isSecret) return <SecretEditor {...props} />;
  if (schema.format === 'date-time') return <DateTimeEditor {...props} />;
  const suggestions = Array.isArray(schema[formKeywords.suggestions]) ? `${toElementId(form, path)}-values` : undefined;
  const isWebAddress = /url$/.test(String(key)) && schema.type === 'string';
  return (
    <FieldFrame {...{ form, path, label, hint, isRequired, isLabelHidden }}>
      {(control) =>
        isLong ? (
          <textarea
            {...control}
            className={key === 'instructions' ? 'builder-instructions' : undefined}
            rows={2}
            value={text}
            onChange={({ target }) => change(target.value)}
          />
        ) : (
          <>
            <input
              {...control}
              type="text"
              inputMode={isWebAddress ? 'url' : undefined}
              list={suggestions}
              value={text}
              onChange={({ target }) => change(target.value)}
            />
            {suggestions !== undefined && <Suggestions id={suggestions} schema={schema} />}
          </>
        )
      }
    </FieldFrame>
  );
}

/** Shows the time in the local time zone. The value is in UTC. */
function DateTimeEditor({ value, path, form, label, hint, isRequired }: EditorProps) {
  return (
    <FieldFrame {...{ form, path, label, hint, isRequired }}>
      {(control) => (
        <input
          {...control}
          type="datetime-local"
          value={typeof value === 'string' ? toLocalInput(value) : ''}
          onChange={({ target }) => form.change(path, target.value === '' ? undefined : new Date(target.value).toISOString())}
        />
      )}
    </FieldFrame>
  );
}

/** Shows that a secret is stored, without the secret. Typing replaces it, and clearing the input restores it. */
function SecretEditor({ value, path, form, isRequired, label, hint, isLabelHidden }: EditorProps) {
  const strings = useBuilderStrings();
  const [isStored, setIsStored] = useState(value === secretPlaceholder);
  if (value === secretPlaceholder && !isStored) setIsStored(true);
  const text = typeof value === 'string' && value !== secretPlaceholder ? value : '';
  return (
    <FieldFrame {...{ form, path, label, hint, isRequired, isLabelHidden }}>
      {(control) => (
        <input
          {...control}
          type="password"
          autoComplete="new-password"
          spellCheck={false}
          placeholder={isStored ? strings.secretStored : undefined}
          value={text}
          onChange={({ target }) => form.change(path, target.value === '' && isStored ? secretPlaceholder : target.value)}
        />
      )}
    </FieldFrame>
  );
}

export function NumberEditor({ shape, value, path, form, isRequired, label, hint }: ScalarEditorProps<'number'>) {
  const strings = useFormsStrings();
  const builderStrings = useBuilderStrings();
  const [draftText, setDraftText] = useState<string>();
  const { min, max, isInteger } = shape;
  const number = typeof value === 'number' ? value : undefined;
  const isTemperature = path.at(-1) === 'temperature';
  const reset = (sliderId: string): void => {
    form.change(path, undefined);
    document.getElementById(sliderId)?.focus();
  };
  if (min !== undefined && max !== undefined && !isInteger) {
    return (
      <FieldFrame {...{ form, path, label, hint, isRequired }}>
        {(control) => (
          <div className="builder-slider">
            {isTemperature && <span className="soft small">{builderStrings.temperatureLow}</span>}
            <input
              {...{ ...control, type: 'range', min, max, step: (max - min) / 20, value: number ?? min }}
              {...(number === undefined && { 'aria-valuetext': builderStrings.notSet })}
              onChange={({ target }) => form.change(path, Number(target.value))}
            />
            {isTemperature && <span className="soft small">{builderStrings.temperatureHigh}</span>}
            <output htmlFor={control.id}>{number ?? builderStrings.notSet}</output>
            {number !== undefined && !isRequired && (
              <TextButton onClick={() => reset(control.id)}>{builderStrings.useDefault}</TextButton>
            )}
          </div>
        )}
      </FieldFrame>
    );
  }
  const change = (text: string): void => {
    setDraftText(text);
    const next = Number(text);
    if (text.trim() === '') form.change(path, undefined);
    else if (Number.isFinite(next)) form.change(path, next);
  };
  const isInvalid = draftText !== undefined && draftText.trim() !== '' && !Number.isFinite(Number(draftText));
  return (
    <FieldFrame {...{ form, path, label, hint, isRequired }} error={isInvalid ? strings.mustBeNumber : undefined}>
      {(control) => (
        <input
          {...control}
          type="text"
          inputMode="decimal"
          value={draftText ?? number ?? ''}
          onChange={({ target }) => change(target.value)}
        />
      )}
    </FieldFrame>
  );
}

export function SwitchEditor({ value, path, form, label, hint, isRequired, schema }: ScalarEditorProps<'switch'>) {
  return (
    <FieldFrame {...{ form, path, label, hint, isRequired }} isSwitch>
      {(control) => (
        <input
          {...control}
          type="checkbox"
          checked={(value ?? schema.default) === true}
          onChange={({ target }) => form.change(path, target.checked)}
        />
      )}
    </FieldFrame>
  );
}

export function ChoiceEditor({ shape, value, path, form, label, hint, isRequired, schema }: ScalarEditorProps<'choice'>) {
  const strings = useBuilderStrings();
  const translate = useSchemaTranslation();
  const optionLabels = toObject(schema[formKeywords.optionLabels]);
  const selected = typeof value === 'string' ? value : toText(schema.default);
  const isKnown = shape.options.includes(selected);
  return (
    <FieldFrame {...{ form, path, label, hint, isRequired }}>
      {(control) => (
        <select
          {...control}
          value={selected}
          onChange={({ target }) => form.change(path, target.value === '' ? undefined : target.value)}
        >
          {(!isRequired || !isKnown) && <option value="">{strings.notSet}</option>}
          {!isKnown && selected !== '' && <option value={selected}>{selected}</option>}
          {shape.options.map((option) => (
            <option key={option} value={option}>
              {String(optionLabels[option] ?? translate(option))}
            </option>
          ))}
        </select>
      )}
    </FieldFrame>
  );
}

/** Edits the complete value as JSON, if no other editor supports it. */
export function JsonEditor({ value, path, form, label, hint, isRequired }: EditorProps) {
  const strings = useFormsStrings();
  const builderStrings = useBuilderStrings();
  const [text, setText] = useState(() => (value === undefined ? '' : JSON.stringify(value, undefined, 2)));
  const isInvalid = text.trim() !== '' && tryParseJson(text) === undefined;
  const change = (next: string): void => {
    setText(next);
    const parsed = tryParseJson(next);
    if (parsed !== undefined) form.change(path, parsed);
    else if (next.trim() === '') form.change(path, undefined);
  };
  return (
    <FieldFrame
      {...{ form, path, label, isRequired }}
      hint={`${hint} ${builderStrings.asJsonHint}`.trim()}
      error={isInvalid ? strings.mustBeJson : undefined}
    >
      {(control) => (
        <textarea
          {...control}
          className="code"
          rows={Math.min(12, text.split('\n').length + 1)}
          spellCheck={false}
          value={text}
          onChange={({ target }) => change(target.value)}
        />
      )}
    </FieldFrame>
  );
}

/** The values that a text field suggests. */
export function Suggestions({ id, schema }: { readonly id: string; readonly schema: JsonObject }) {
  const values = schema[formKeywords.suggestions];
  if (!Array.isArray(values)) return null;
  return (
    <datalist id={id}>
      {values.map((value: unknown) => (
        <option key={String(value)} value={String(value)} />
      ))}
    </datalist>
  );
}
