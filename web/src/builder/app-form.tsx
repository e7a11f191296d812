import { useState } from 'react';
import { type JsonObject, toText } from '#base/json/json.ts';
import { usePage } from '../shell/page.tsx';
import { useStrings } from '../strings/strings.tsx';
import { useBuilderStrings, useSchemaTranslation } from './builder-strings.ts';
import { DeploymentsEditor } from './editors/deployments-editor.tsx';
import { DocumentsEditor } from './editors/documents-editor.tsx';
import type { BuilderForm, EditorProps } from './editors/form.ts';
import { FieldFrame } from './editors/frame.tsx';
import { PictureEditor } from './editors/picture-editor.tsx';
import { getTitle } from './editors/properties.tsx';
import { type Property, toShape } from './editors/shape.ts';
import { WebApisEditor } from './editors/web-apis-editor.tsx';
import { getValueAt } from './entry-parts.ts';

/** Selects the deployment that answers, among those available to the user. */
function ModelEditor({ value, path, form, label, hint, isRequired }: EditorProps) {
  const strings = useStrings();
  const builderStrings = useBuilderStrings();
  // An application cannot call itself.
  const deployments = usePage().deployments.filter(({ id }) => id !== form.stored?.id);
  const selected = toText(value);
  const groups = [
    { name: builderStrings.models, items: deployments.filter(({ isApplication }) => !isApplication) },
    {
      name: builderStrings.applications,
      items: deployments.filter(({ isApplication, owner }) => isApplication && owner !== 'other'),
    },
    { name: strings.sharedByOthers, items: deployments.filter(({ owner }) => owner === 'other') },
  ];
  return (
    <FieldFrame {...{ form, path, label, hint, isRequired }}>
      {(control) => (
        <select {...control} value={selected} onChange={({ target }) => form.change(path, target.value)}>
          {selected === '' && <option value="">{builderStrings.notSet}</option>}
          {selected !== '' && deployments.every(({ id }) => id !== selected) && (
            <option value={selected}>{builderStrings.notOffered(selected)}</option>
          )}
          {groups.map(
            ({ name, items }) =>
              items.length > 0 && (
                <optgroup key={name} label={name}>
                  {items.map((deployment) => (
                    <option key={deployment.id} value={deployment.id}>
                      {deployment.owner === 'other'
                        ? `${deployment.name} · ${strings.sharedByOther(deployment.ownerName)}`
                        : deployment.name}
                    </option>
                  ))}
                </optgroup>
              ),
          )}
        </select>
      )}
    </FieldFrame>
  );
}

interface AppFormProps {
  readonly schema: JsonObject;
  readonly entry: JsonObject;
  readonly form: BuilderForm;
}

const textSchema = { type: 'string', minLength: 1 };
const settingsKey = 'applicationProperties';

/** Editors for settings that are unclear in a form generated from the schema. */
const customEditors = new Map([
  ['model', ModelEditor],
  ['applications_as_tools', DeploymentsEditor],
  ['web_api_toolset', WebApisEditor],
  ['web_api_toolset_alternative', WebApisEditor],
  ['document_relative_url', DocumentsEditor],
]);

/** The complete form of a quick app, as defined by its schema. */
export function AppForm({ schema, entry, form }: AppFormProps) {
  const strings = useBuilderStrings();
  const shape = toShape(schema);
  const properties = shape.kind === 'group' ? shape.properties : [];
  const general = [
    { key: 'displayName', label: strings.name, hint: strings.nameHint },
    { key: 'description', label: strings.description, hint: strings.descriptionHint },
  ];
  return (
    <>
      <section className="builder-section" aria-label={strings.general}>
        <h2>{strings.general}</h2>
        {general.map(({ key, ...texts }) => (
          <form.Value
            key={key}
            {...{ ...texts, form, schema: textSchema, isRequired: false, path: [key], value: getValueAt(entry, [key]) }}
          />
        ))}
        <PictureEditor form={form} value={entry.iconUrl} />
      </section>
      <section className="builder-section" aria-label={strings.behavior}>
        <h2>{strings.behavior}</h2>
        {properties.filter(isSimple).map((property) => (
          <Setting key={property.name} {...{ property, entry, form }} />
        ))}
        {properties.filter(isDocuments).map((property) => (
          <ToolSection key={property.name} {...{ property, entry, form }} />
        ))}
        <AdvancedSettings properties={properties.filter(isAdvanced)} {...{ entry, form }} />
      </section>
      <section className="builder-section" aria-label={strings.tools}>
        <h2>{strings.tools}</h2>
        {properties
          .filter((property) => !isSimple(property) && !isDocuments(property) && !isAdvanced(property))
          .map((property) => (
            <ToolSection key={property.name} {...{ property, entry, form }} />
          ))}
      </section>
    </>
  );
}

interface SettingProps {
  readonly property: Property;
  readonly entry: JsonObject;
  readonly form: BuilderForm;
  readonly isLabelHidden?: boolean;
}

function Setting({ property: { name, schema, isRequired }, entry, form, isLabelHidden }: SettingProps) {
  const translate = useSchemaTranslation();
  const path = [settingsKey, name];
  const props: EditorProps = {
    ...{ schema, path, form, isRequired, isLabelHidden, value: getValueAt(entry, path) },
    label: translate(getTitle(schema, name)),
    hint: translate(toText(schema.description)),
  };
  const Editor = customEditors.get(name) ?? form.Value;
  return <Editor {...props} />;
}

/** Settings with good defaults. They start collapsed if all of them are unset. */
function AdvancedSettings({
  properties,
  entry,
  form,
}: Omit<SettingProps, 'property'> & { readonly properties: readonly Property[] }) {
  const strings = useBuilderStrings();
  const [isInitiallyOpen] = useState(properties.some(({ name }) => getValueAt(entry, [settingsKey, name]) !== undefined));
  return (
    <details className="builder-disclosure" open={isInitiallyOpen}>
      <summary>
        <span className="builder-disclosure-title">
          {strings.advancedSettings}
          <span className="soft small">{strings.advancedSettingsHint}</span>
        </span>
      </summary>
      <div className="builder-disclosure-body">
        {properties.map((property) => (
          <Setting key={property.name} {...{ property, entry, form }} />
        ))}
      </div>
    </details>
  );
}

/** Settings that are hidden unless they are set. */
const hiddenUnlessSet: ReadonlySet<string> = new Set(['web_api_toolset_alternative']);

/** A setting in a collapsible section with its number of entries. It starts collapsed if the setting is not set. */
function ToolSection({ property, entry, form }: SettingProps) {
  const translate = useSchemaTranslation();
  const toolHints: Readonly<Record<string, string>> = useBuilderStrings().toolHints;
  const value = getValueAt(entry, [settingsKey, property.name]);
  const [isInitiallyOpen] = useState(value !== undefined);
  if (hiddenUnlessSet.has(property.name) && value === undefined && !isInitiallyOpen) return null;
  const hint = Object.hasOwn(toolHints, property.name) ? toolHints[property.name] : undefined;
  const count = Array.isArray(value) ? value.length : value === undefined ? 0 : 1;
  return (
    <details className="builder-disclosure" open={isInitiallyOpen}>
      <summary>
        <span className="builder-disclosure-title">
          {translate(getTitle(property.schema, property.name))}
          {hint !== undefined && <span className="soft small">{hint}</span>}
        </span>
        {count > 0 && <span className="tag">{count}</span>}
      </summary>
      <div className="builder-disclosure-body">
        <Setting {...{ property, entry, form }} isLabelHidden />
      </div>
    </details>
  );
}

function isSimple(property: Property): boolean {
  const shape = toShape(property.schema);
  if (shape.kind === 'list') return toShape(shape.item).kind === 'text';
  return ['text', 'number', 'switch', 'choice'].includes(shape.kind) && !isDocuments(property);
}

function isDocuments({ name }: Property): boolean {
  return name === 'document_relative_url';
}

function isAdvanced({ schema }: Property): boolean {
  return toShape(schema).kind === 'group';
}
