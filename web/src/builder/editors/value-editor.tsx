import { type KeyboardEvent, useId, useState } from 'react';
import { flushSync } from 'react-dom';
import { isJsonObject, type JsonObject, toObject } from '#base/json/json.ts';
import { formatPath } from '#contract/configuration/issue.ts';
import { Icon } from '../../parts/icon.tsx';
import { useBuilderStrings, useSchemaTranslation } from '../builder-strings.ts';
import { type EditorProps, goToField, toElementId } from './form.ts';
import { FieldError, FieldGroup } from './frame.tsx';
import { ListEditor } from './list-editor.tsx';
import { RemoveButton } from './list-items.tsx';
import { isParameters, ParametersEditor } from './parameters-editor.tsx';
import { Properties } from './properties.tsx';
import { ChoiceEditor, JsonEditor, NumberEditor, Suggestions, SwitchEditor, TextEditor } from './scalar-editor.tsx';
import { findVariant, formKeywords, getInitialValue, type Property, type Shape, toShape } from './shape.ts';

/** The schema does not list the HTTP methods. The obsolete format supports fewer. */
const obsoleteMethods: Shape & { readonly kind: 'choice' } = { kind: 'choice', options: ['get', 'post', 'put', 'delete'] };
const methods: typeof obsoleteMethods = { kind: 'choice', options: ['get', 'post', 'put', 'patch', 'delete'] };

/** The editor of any value, generated from its JSON Schema. */
export function ValueEditor(props: EditorProps) {
  if (props.path.at(-1) === 'method_type')
    return <ChoiceEditor {...props} hint="" shape={props.path.includes('tool_endpoints') ? obsoleteMethods : methods} />;
  const shape = toShape(props.schema);
  if (isParameters(props.schema)) return <ParametersEditor {...props} />;
  switch (shape.kind) {
    case 'text':
      return <TextEditor {...props} shape={shape} />;
    case 'number':
      return <NumberEditor {...props} shape={shape} />;
    case 'switch':
      return <SwitchEditor {...props} shape={shape} />;
    case 'choice':
      return <ChoiceEditor {...props} shape={shape} />;
    case 'list':
      return <ListEditor {...props} item={shape.item} />;
    case 'map':
      return <MapEditor {...props} item={shape.item} />;
    case 'group':
      return <GroupEditor {...props} properties={shape.properties} />;
    case 'variants':
      return <VariantsEditor {...props} shape={shape} />;
    case 'fixed':
      return null;
    case 'json':
      return <JsonEditor {...props} />;
  }
}

function GroupEditor({ properties, label, hint, ...props }: EditorProps & { readonly properties: readonly Property[] }) {
  const { form, path } = props;
  const visibleProperties = properties.filter(({ schema }) => toShape(schema).kind !== 'fixed');
  const [onlyProperty] = visibleProperties;
  // A group that contains only another group has no frame.
  if (onlyProperty !== undefined && visibleProperties.length === 1 && toShape(onlyProperty.schema).kind === 'group') {
    return (
      <>
        <FieldError {...{ form, path }} />
        <Properties {...props} properties={visibleProperties} />
      </>
    );
  }
  // An optional group has no required fields until one is set.
  const isUsed = props.isRequired || (isJsonObject(props.value) && Object.keys(props.value).length > 0);
  const fields = isUsed ? properties : properties.map((property) => ({ ...property, isRequired: false }));
  return (
    <FieldGroup {...{ form, path, label, hint, className: 'field-group' }}>
      <Properties {...props} properties={fields} />
    </FieldGroup>
  );
}

/** Edits an object whose keys the user chooses. */
function MapEditor({ item, schema, value, path, form, label, hint }: EditorProps & { readonly item: JsonObject }) {
  const strings = useBuilderStrings();
  const [name, setName] = useState('');
  const [rejectedName, setRejectedName] = useState('');
  const nameFieldId = useId();
  const entries = isJsonObject(value) ? Object.entries(value) : [];
  const id = toElementId(form, path);
  const newName = name.trim();
  const nameSchema = toObject(schema.propertyNames);
  const nameLabel = String(nameSchema.title ?? strings.nameIn(label));
  const isUsed = entries.some(([key]) => key === newName);
  const isDuplicate = isUsed && newName === rejectedName;
  const add = (): void => {
    if (newName === '' || isUsed) {
      setRejectedName(newName);
      return document.getElementById(nameFieldId)?.focus();
    }
    flushSync(() => {
      form.change([...path, newName], getInitialValue(item));
      setName('');
    });
    goToField(form.id, formatPath([...path, newName]));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    add();
  };
  const remove = (key: string): void => {
    form.change([...path, key], undefined);
    document.getElementById(nameFieldId)?.focus();
  };
  const rowClass = toShape(item).kind === 'group' ? 'builder-card map-card' : 'builder-line';
  return (
    <FieldGroup {...{ form, path, label, hint, className: 'builder-list' }}>
      {entries.length > 0 && (
        <ul>
          {entries.map(([key, entryValue]) => (
            <li key={key} className={rowClass}>
              <form.Value {...{ schema: item, value: entryValue, path: [...path, key], form, label: key, hint: '' }} isRequired />
              <RemoveButton name={key} remove={() => remove(key)} />
            </li>
          ))}
        </ul>
      )}
      <div className="row">
        <label className="visually-hidden" htmlFor={nameFieldId}>
          {nameLabel}
        </label>
        <input
          {...{ id: nameFieldId, value: name, onKeyDown, list: `${id}-names`, placeholder: nameLabel }}
          {...(isDuplicate && { 'aria-invalid': true, 'aria-describedby': `${nameFieldId}-error` })}
          onChange={({ target }) => setName(target.value)}
        />
        <Suggestions id={`${id}-names`} schema={nameSchema} />
        <button type="button" className="button" onClick={add}>
          <Icon name="plus" />
          {String(schema[formKeywords.addLabel] ?? strings.addTo(label))}
        </button>
      </div>
      {isDuplicate && (
        <p className="error-text" role="alert" id={`${nameFieldId}-error`}>
          {strings.keyTaken(newName)}
        </p>
      )}
    </FieldGroup>
  );
}

const noVariant = -1;
/** Matches the description of a variant that is offered only to entries that already use it. */
const obsoletePattern = /\bobsolete\b/;

function VariantsEditor({
  shape,
  schema,
  value,
  path,
  form,
  isRequired,
  label,
  hint,
}: EditorProps & { readonly shape: Shape & { readonly kind: 'variants' } }) {
  const strings = useBuilderStrings();
  const translate = useSchemaTranslation();
  const selectId = useId();
  const { variants, isNullable } = shape;
  const current = findVariant(variants, value);
  const selectedIndex = current === undefined ? noVariant : variants.indexOf(current);
  const inner = current && toShape(current.schema);
  const onSelect = (index: number): void => {
    const next = variants[index];
    if (next !== undefined) form.change(path, getInitialValue(next.schema));
    else form.change(path, isRequired && isNullable ? null : undefined);
  };
  const visibleVariants = variants.flatMap((variant, index) =>
    index === selectedIndex || !obsoletePattern.test(variant.hint) ? [{ ...variant, index }] : [],
  );
  const canBeUnset = isNullable || !isRequired || current === undefined;
  const variantFields = inner?.kind === 'group' && <Properties {...{ value, path, form }} properties={inner.properties} />;
  if (visibleVariants.length === 1 && !canBeUnset) {
    return (
      <>
        <FieldError {...{ form, path }} />
        {variantFields}
      </>
    );
  }
  // A value that matches no variant is shown unchanged.
  const isUnmatched = current === undefined && value !== undefined && value !== null;
  return (
    <FieldGroup {...{ form, path, label, hint, className: 'field-group' }}>
      <label className="visually-hidden" htmlFor={selectId}>
        {`${label}: ${strings.kind}`}
      </label>
      <select id={selectId} value={selectedIndex} onChange={({ target }) => onSelect(Number(target.value))}>
        {canBeUnset && <option value={noVariant}>{strings.noSelection}</option>}
        {visibleVariants.map(({ hint: variantHint, index }) => (
          <option key={variantHint} value={index}>
            {translate(variantHint).replace(/\.$/, '')}
          </option>
        ))}
      </select>
      {variantFields}
      {isUnmatched && <JsonEditor {...{ schema, value, path, form, isRequired, label }} hint="" />}
    </FieldGroup>
  );
}
