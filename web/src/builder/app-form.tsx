import { useEffect, useState } from 'react';
import type { JsonObject } from '#base/json/json.ts';
import { usePage } from '../page/page.tsx';
import { toHash } from '../page/place.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { sharedBy } from '../words/shared-by.ts';
import { useWords } from '../words/words.tsx';
import type { OwnApplication } from './applications.ts';
import { valueAt } from './draft.ts';
import { DeploymentsEditor } from './editors/deployments-editor.tsx';
import { DocumentsEditor } from './editors/documents-editor.tsx';
import type { BuilderForm, EditorProps } from './editors/form.ts';
import { FieldFrame } from './editors/frame.tsx';
import { ListEditor } from './editors/list-editor.tsx';
import { titleOf } from './editors/properties.tsx';
import { type Property, toShape } from './editors/shape.ts';
import { WebApisEditor } from './editors/web-apis-editor.tsx';
import { ResultTag } from './evaluation/evaluation-list.tsx';
import { type Evaluating, lastOf } from './evaluation/use-evaluations.ts';
import { useBuilderWords } from './words/builder-words.ts';
import { useSchemaWords } from './words/schema-words.ts';

const roles = { type: 'array', items: { type: 'string' } };

/** The choice of whom the application asks, out of what is open to its maker. */
function ModelEditor({ value, path, form, label, hint, isRequired }: EditorProps) {
  const words = useWords();
  const builderWords = useBuilderWords();
  // An application cannot ask itself.
  const deployments = usePage().deployments.filter(({ id }) => id !== form.saved?.id);
  const chosen = typeof value === 'string' ? value : '';
  const groups = [
    { name: builderWords.models, items: deployments.filter(({ isApplication }) => !isApplication) },
    {
      name: builderWords.applications,
      items: deployments.filter(({ isApplication, maker }) => isApplication && maker !== 'other'),
    },
    { name: words.sharedByOthers, items: deployments.filter(({ maker }) => maker === 'other') },
  ];
  return (
    <FieldFrame {...{ form, path, label, hint, isRequired }}>
      {(control) => (
        <select {...control} value={chosen} onChange={({ target }) => form.change(path, target.value)}>
          {chosen === '' && <option value="">{builderWords.notSet}</option>}
          {chosen !== '' && deployments.every(({ id }) => id !== chosen) && (
            <option value={chosen}>{builderWords.notOffered(chosen)}</option>
          )}
          {groups.map(
            ({ name, items }) =>
              items.length > 0 && (
                <optgroup key={name} label={name}>
                  {items.map((each) => (
                    <option key={each.id} value={each.id}>
                      {[each.name, sharedBy(each, words)].filter(Boolean).join(' · ')}
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
  /** The application, once it is saved. */
  readonly stored: OwnApplication | undefined;
  readonly evaluating: Evaluating;
}

const line = { type: 'string', minLength: 1 };
const settings = 'applicationProperties';

/** The editors of those settings for which a field drawn from the schema alone would not be clear. */
const ownEditors = new Map([
  ['model', ModelEditor],
  ['applications_as_tools', DeploymentsEditor],
  ['web_api_toolset', WebApisEditor],
  ['web_api_toolset_alternative', WebApisEditor],
  ['document_relative_url', DocumentsEditor],
]);

/** Everything of a quick app, as its schema has it. */
export function AppForm({ schema, entry, form, stored, evaluating }: AppFormProps) {
  const words = useBuilderWords();
  const shape = toShape(schema);
  const properties = shape.kind === 'group' ? shape.properties : [];
  const general = [
    { key: 'displayName', label: words.name, hint: words.nameHint },
    { key: 'description', label: words.description, hint: words.descriptionHint },
    { key: 'iconUrl', label: words.iconUrl, hint: words.iconUrlHint },
  ];
  return (
    <>
      <section className="builder-section" aria-label={words.general}>
        <h2>{words.general}</h2>
        {general.map(({ key, ...said }) => (
          <form.Value
            key={key}
            {...{ ...said, form, schema: line, isRequired: false, path: [key], value: valueAt(entry, [key]) }}
          />
        ))}
      </section>
      <section className="builder-section" aria-label={words.behaviour}>
        <h2>{words.behaviour}</h2>
        {properties.filter(isPlain).map((property) => (
          <Setting key={property.name} {...{ property, entry, form }} />
        ))}
        <FineSettings properties={properties.filter(isFine)} {...{ entry, form }} />
      </section>
      <section className="builder-section" aria-label={words.tools}>
        <h2>{words.tools}</h2>
        {properties
          .filter((property) => !isPlain(property) && !isFine(property))
          .map((property) => (
            <ToolSection key={property.name} {...{ property, entry, form }} />
          ))}
      </section>
      <ShareSection {...{ entry, form, stored, evaluating }} />
    </>
  );
}

interface SettingProps {
  readonly property: Property;
  readonly entry: JsonObject;
  readonly form: BuilderForm;
  readonly isLabelHeard?: boolean;
}

function Setting({ property: { name, schema, isRequired }, entry, form, isLabelHeard }: SettingProps) {
  const say = useSchemaWords();
  const path = [settings, name];
  const props: EditorProps = {
    ...{ schema, path, form, isRequired, isLabelHeard, value: valueAt(entry, path) },
    label: say(titleOf(schema, name)),
    hint: say(typeof schema.description === 'string' ? schema.description : ''),
  };
  const Editor = ownEditors.get(name) ?? form.Value;
  return <Editor {...props} />;
}

/** What is good as the service has it, folded as long as nothing of it is set. */
function FineSettings({
  properties,
  entry,
  form,
}: Omit<SettingProps, 'property'> & { readonly properties: readonly Property[] }) {
  const words = useBuilderWords();
  const [wasSet] = useState(properties.some(({ name }) => valueAt(entry, [settings, name]) !== undefined));
  return (
    <details className="builder-tools" open={wasSet}>
      <summary>
        <span className="builder-tools-name">
          {words.fineSettings}
          <span className="soft small">{words.fineSettingsHint}</span>
        </span>
      </summary>
      <div className="builder-tools-body">
        {properties.map((property) => (
          <Setting key={property.name} {...{ property, entry, form }} />
        ))}
      </div>
    </details>
  );
}

/** More of another kind: nobody misses them who does not have them. */
const rare: ReadonlySet<string> = new Set(['web_api_toolset_alternative']);

/** A kind of tools, folded as long as there are none. */
function ToolSection({ property, entry, form }: SettingProps) {
  const say = useSchemaWords();
  const toolHints: Readonly<Record<string, string>> = useBuilderWords().toolHints;
  const value = valueAt(entry, [settings, property.name]);
  const [wasFilled] = useState(value !== undefined);
  if (rare.has(property.name) && value === undefined && !wasFilled) return null;
  const hint = Object.hasOwn(toolHints, property.name) ? toolHints[property.name] : undefined;
  const count = Array.isArray(value) ? value.length : value === undefined ? 0 : 1;
  return (
    <details className="builder-tools" open={wasFilled}>
      <summary>
        <span className="builder-tools-name">
          {say(titleOf(property.schema, property.name))}
          {hint !== undefined && <span className="soft small">{hint}</span>}
        </span>
        {count > 0 && <span className="tag">{count}</span>}
      </summary>
      <div className="builder-tools-body">
        <Setting {...{ property, entry, form }} isLabelHeard />
      </div>
    </details>
  );
}

function isPlain({ name, schema }: Property): boolean {
  const shape = toShape(schema);
  if (shape.kind === 'list') return toShape(shape.item).kind === 'text';
  return ['text', 'number', 'switch', 'choice'].includes(shape.kind) && name !== 'document_relative_url';
}

function isFine({ schema }: Property): boolean {
  return toShape(schema).kind === 'group';
}

interface ShareSectionProps {
  readonly entry: JsonObject;
  readonly form: BuilderForm;
  readonly stored: OwnApplication | undefined;
  readonly evaluating: Evaluating;
}

/** Who may use an application besides its maker, and the link for them. */
function ShareSection({ entry, form, stored, evaluating }: ShareSectionProps) {
  const words = useBuilderWords();
  const id = stored?.id;
  const link = id === undefined ? '' : new URL(toHash({ at: 'new', deployment: id }), document.baseURI).href;
  return (
    <section className="builder-section" aria-label={words.sharing}>
      <h2>{words.sharing}</h2>
      <ListEditor
        {...{ form, schema: roles, item: roles.items, isRequired: false }}
        label={words.role}
        hint={words.sharingHint}
        path={['userRoles']}
        value={valueAt(entry, ['userRoles'])}
      />
      {stored !== undefined && addsRoles(entry, stored.entry) && <EvaluationOffer evaluating={evaluating} />}
      {link !== '' && (
        <p className="builder-link">
          <span className="soft small">{words.shareLink}</span>
          <code>{link}</code>
          <CopyButton text={() => link} label={words.shareLink} />
        </p>
      )}
    </section>
  );
}

/** Whether somebody may use it, once it is saved, who may not yet. */
function addsRoles({ userRoles: next }: JsonObject, { userRoles: now }: JsonObject): boolean {
  const before: readonly unknown[] = Array.isArray(now) ? now : [];
  return Array.isArray(next) && next.some((role) => role !== '' && !before.includes(role));
}

/** Before others use it: what the last evaluation came to, and another one. */
function EvaluationOffer({ evaluating }: Pick<ShareSectionProps, 'evaluating'>) {
  const words = useBuilderWords();
  const { want, setOpen, start, running, cases, version, isLoaded } = evaluating;
  useEffect(want, [want]);
  const last = lastOf(evaluating, version);
  const show = (): void => {
    setOpen(true);
    if (cases.length > 0 && running === undefined) start();
    setTimeout(() => document.querySelector('#evaluation')?.scrollIntoView());
  };
  return (
    <div className="row" role="status">
      <span className="small">{words.evaluateFirst}</span>
      {last !== undefined && <ResultTag evaluation={last} />}
      <button type="button" className="button slim" disabled={!isLoaded} onClick={show}>
        {isLoaded && cases.length === 0 ? words.addCases : words.evaluateNow}
      </button>
    </div>
  );
}
