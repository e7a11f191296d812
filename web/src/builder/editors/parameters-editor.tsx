import { useState } from 'react';
import { flushSync } from 'react-dom';
import { isJsonObject, type JsonObject, toObject, toText, tryParseJson } from '#base/json/json.ts';
import type { Path } from '#contract/configuration/issue.ts';
import { Icon } from '../../parts/icon.tsx';
import { useBuilderStrings } from '../builder-strings.ts';
import { withValueAt } from '../entry-parts.ts';
import { type BuilderForm, type EditorProps, toElementId } from './form.ts';
import { FieldFrame, FieldGroup } from './frame.tsx';
import { RemoveButton, useItemKeys } from './list-items.tsx';

const types = ['string', 'number', 'integer', 'boolean', 'object', 'array'];
const locations = ['query', 'path', 'header', 'body', 'whole_body'] as const;
const styles = ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'] as const;

/** Returns whether a schema describes operation parameters: a JSON Schema with a location for each value. */
export function isParameters({ properties }: JsonObject): boolean {
  const propertySchema =
    isJsonObject(properties) && isJsonObject(properties.properties) ? properties.properties.additionalProperties : {};
  return (
    isJsonObject(propertySchema) &&
    isJsonObject(propertySchema.properties) &&
    isJsonObject(propertySchema.properties.parameter_info)
  );
}

/** A card for each parameter of an operation. Keywords of the JSON Schema that the cards do not show are preserved. */
export function ParametersEditor({ value, path, form }: EditorProps) {
  const strings = useBuilderStrings();
  const parameters = toObject(value);
  const entries = isJsonObject(parameters.properties) ? Object.entries(parameters.properties) : [];
  const requiredNames = Array.isArray(parameters.required) ? parameters.required.map(String) : [];
  const { keys, removeKey } = useItemKeys(entries.length);
  const put = (next: readonly (readonly [string, unknown])[], nextRequired: readonly string[]): void => {
    const { required: _before, ...otherKeywords } = parameters;
    const properties = Object.fromEntries(next);
    form.change(path, {
      ...otherKeywords,
      type: 'object',
      properties,
      ...(nextRequired.length > 0 && { required: nextRequired }),
    });
  };
  const replace = (index: number, entry: readonly [string, unknown], isRequired: boolean): void => {
    const [name] = entry;
    const otherRequired = requiredNames.filter((requiredName) => requiredName !== entries[index]?.[0] && requiredName !== name);
    put(
      entries.map((existing, at) => (at === index ? entry : existing)),
      isRequired ? [...otherRequired, name] : otherRequired,
    );
  };
  const remove = (index: number): void => {
    removeKey(index);
    put(
      entries.filter((_, at) => at !== index),
      requiredNames.filter((requiredName) => requiredName !== entries[index]?.[0]),
    );
  };
  const add = (): void => {
    const names = new Set(entries.map(([name]) => name));
    const name = Array.from({ length: entries.length + 1 }, (_, index) => `parameter_${index + 1}`).find(
      (candidate) => !names.has(candidate),
    );
    if (name === undefined) return;
    // Rendered synchronously, so that continued typing goes into the name.
    flushSync(() => put([...entries, [name, { type: 'string', description: '' }]], [...requiredNames, name]));
    openLast(toElementId(form, path));
  };
  return (
    <FieldGroup {...{ form, path, label: strings.parameters, className: 'builder-list' }}>
      <ul>
        {entries.map(([name, property], index) => (
          <li key={keys[index] ?? index} className="builder-card">
            <details>
              <summary>
                <Icon name="right" />
                <span className="builder-card-name">{name}</span>
              </summary>
              <ParameterFields
                {...{ form, name, isRequired: requiredNames.includes(name), path: [...path, 'properties', name] }}
                property={toObject(property)}
                isNameTaken={(next) => entries.some(([otherName], at) => at !== index && otherName === next)}
                change={(next) => replace(index, next.entry, next.isRequired)}
              />
            </details>
            <RemoveButton name={name} remove={() => remove(index)} />
          </li>
        ))}
      </ul>
      <button type="button" className="button" onClick={add}>
        <Icon name="plus" />
        {strings.addParameter}
      </button>
    </FieldGroup>
  );
}

/** Opens the last parameter of a list and selects its name. */
function openLast(listId: string): void {
  const card = document.getElementById(listId)?.querySelector<HTMLDetailsElement>(':scope > ul > li:last-child > details');
  if (card != null) card.open = true;
  const field = card?.querySelector('input');
  field?.focus();
  field?.select();
}

interface ParameterFieldsProps {
  readonly form: BuilderForm;
  readonly path: Path;
  readonly name: string;
  readonly property: JsonObject;
  readonly isRequired: boolean;
  readonly isNameTaken: (name: string) => boolean;
  readonly change: (next: { readonly entry: readonly [string, unknown]; readonly isRequired: boolean }) => void;
}

function ParameterFields({ form, path, name, property, isRequired, isNameTaken, change }: ParameterFieldsProps) {
  const strings = useBuilderStrings();
  /** The entered name, while another parameter has the same name. The user may still be typing a longer one. */
  const [takenName, setTakenName] = useState<string>();
  const rename = (next: string): void => {
    const isTaken = isNameTaken(next);
    setTakenName(isTaken ? next : undefined);
    if (!isTaken) change({ entry: [next, property], isRequired });
  };
  const info = toObject(property.parameter_info);
  const set = (at: Path, value: unknown): void => change({ entry: [name, withValueAt(property, at, value)], isRequired });
  const fixed = property.const;
  const toFieldProps = (key: string): { form: BuilderForm; path: Path } => ({ form, path: [...path, key] });
  return (
    <div className="builder-card-body two-columns">
      <FieldFrame
        {...toFieldProps('name')}
        label={strings.parameterName}
        error={takenName === undefined ? undefined : strings.parameterNameTaken}
      >
        {(control) => (
          <input
            {...control}
            value={takenName ?? name}
            onChange={({ target }) => rename(target.value)}
            onBlur={() => setTakenName(undefined)}
          />
        )}
      </FieldFrame>
      <FieldFrame {...toFieldProps('type')} label={strings.parameterType}>
        {(control) => (
          <select
            {...control}
            value={String(property.type ?? '')}
            onChange={({ target }) => set(['type'], target.value || undefined)}
          >
            {!types.includes(String(property.type)) && <option value={String(property.type ?? '')}>{strings.notSet}</option>}
            {types.map((type) => (
              <option key={type}>{type}</option>
            ))}
          </select>
        )}
      </FieldFrame>
      <FieldFrame {...toFieldProps('description')} label={strings.parameterDescription}>
        {(control) => (
          <input
            {...control}
            value={toText(property.description)}
            onChange={({ target }) => set(['description'], target.value)}
          />
        )}
      </FieldFrame>
      <FieldFrame {...toFieldProps('const')} label={strings.parameterFixed} hint={strings.parameterFixedHint}>
        {(control) => (
          <input
            {...control}
            value={fixed === undefined ? '' : typeof fixed === 'string' ? fixed : JSON.stringify(fixed)}
            onChange={({ target }) => set(['const'], parseFixedValue(target.value, property.type))}
          />
        )}
      </FieldFrame>
      <FieldFrame {...toFieldProps('parameter_info')} label={strings.parameterLocation}>
        {(control) => (
          <select
            {...control}
            value={info.type === 'url' ? 'path' : String(info.type ?? '')}
            onChange={({ target }) => set(['parameter_info'], target.value === '' ? undefined : { ...info, type: target.value })}
          >
            <option value="">{strings.parameterLocations.auto}</option>
            {locations.map((location) => (
              <option key={location} value={location}>
                {strings.parameterLocations[location]}
              </option>
            ))}
          </select>
        )}
      </FieldFrame>
      {info.type !== undefined && (
        <FieldFrame form={form} path={[...path, 'parameter_info', 'key']} label={strings.parameterKey}>
          {(control) => (
            <input
              {...control}
              placeholder={name}
              value={toText(info.key)}
              onChange={({ target }) => set(['parameter_info', 'key'], target.value || undefined)}
            />
          )}
        </FieldFrame>
      )}
      {(info.type === 'query' || info.type === 'body') && (
        <FieldFrame form={form} path={[...path, 'parameter_info', 'style']} label={strings.parameterStyle}>
          {(control) => (
            <select
              {...control}
              value={toText(info.style)}
              onChange={({ target }) => set(['parameter_info', 'style'], target.value || undefined)}
            >
              <option value="">{strings.styles.auto}</option>
              {styles.map((style) => (
                <option key={style} value={style}>
                  {strings.styles[style]}
                </option>
              ))}
            </select>
          )}
        </FieldFrame>
      )}
      <FieldFrame {...toFieldProps('required')} label={strings.parameterRequired} isSwitch>
        {(control) => (
          <input
            {...control}
            type="checkbox"
            checked={isRequired}
            onChange={({ target }) => change({ entry: [name, property], isRequired: target.checked })}
          />
        )}
      </FieldFrame>
    </div>
  );
}

/** Parses a fixed value as the type of the parameter requires. Falls back to the text. */
function parseFixedValue(text: string, type: unknown): unknown {
  if (text === '') return undefined;
  return type === 'string' ? text : (tryParseJson(text) ?? text);
}
