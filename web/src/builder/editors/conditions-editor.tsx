import { useMemo } from 'react';
import { isJsonObject, type JsonObject, toObject } from '#base/json/json.ts';
import type { Path } from '#contract/configuration/issue.ts';
import { conditionProperties, isExpression } from '#contract/quick-app/condition-parts.ts';
import type { Condition } from '#contract/quick-app/conditions.ts';
import { createConditionMatcher } from '#contract/quick-app/meet-conditions.ts';
import { Icon } from '../../parts/icon.tsx';
import type { Deployment } from '../../service/deployments.ts';
import { usePage } from '../../shell/page.tsx';
import { useBuilderStrings } from '../builder-strings.ts';
import { type BuilderForm, toElementId } from './form.ts';
import { FieldError, FieldFrame } from './frame.tsx';
import { RemoveButton, useItemKeys } from './list-items.tsx';

interface ConditionsEditorProps {
  readonly form: BuilderForm;
  readonly value: unknown;
  readonly path: Path;
  readonly name: string;
  readonly remove: () => void;
}

/** A group of conditions that must all match, with the current matches. */
export function ConditionsEditor({ form, value, path, name, remove }: ConditionsEditorProps) {
  const strings = useBuilderStrings();
  const conditions: readonly unknown[] = isJsonObject(value) && Array.isArray(value.conditions) ? value.conditions : [];
  const { keys, removeKey } = useItemKeys(conditions.length);
  const listPath = [...path, 'conditions'];
  const removeAt = (index: number): void => {
    if (conditions.length === 1) {
      remove();
      return;
    }
    removeKey(index);
    form.change(
      listPath,
      conditions.filter((_, at) => at !== index),
    );
  };
  return (
    <fieldset className="builder-card-body" id={toElementId(form, path)}>
      <legend>{name}</legend>
      <FieldError {...{ form, path: listPath }} />
      {conditions.map((condition, index) => (
        <ConditionRow
          key={keys[index] ?? index}
          {...{ form, path: [...listPath, index], condition: toObject(condition) }}
          number={index + 1}
          remove={() => removeAt(index)}
        />
      ))}
      <div className="row">
        <button
          type="button"
          className="button"
          onClick={() =>
            form.change([...listPath, conditions.length], { condition_type: 'match', property_name: 'id', expression: '' })
          }
        >
          <Icon name="plus" />
          {strings.addCondition}
        </button>
      </div>
      <Matches conditions={conditions} />
    </fieldset>
  );
}

function Matches({ conditions }: { readonly conditions: readonly unknown[] }) {
  const strings = useBuilderStrings();
  const { deployments } = usePage();
  const matches = useMemo(() => findMatching(conditions, deployments), [conditions, deployments]);
  if (matches === undefined) return <p className="soft small">{strings.invalidPattern}</p>;
  if (matches.length === 0) return <p className="soft small">{strings.matchesNone}</p>;
  return (
    <div className="builder-matches">
      <p className="soft small">{strings.matchesNow(matches.length)}</p>
      <ul className="builder-chips" aria-label={strings.matchesNow(matches.length)}>
        {matches.map(({ id, name }) => (
          <li key={id} className="tag" title={id}>
            {name}
          </li>
        ))}
      </ul>
    </div>
  );
}

interface ConditionRowProps extends Omit<ConditionsEditorProps, 'value' | 'name'> {
  readonly condition: JsonObject;
  readonly number: number;
}

function ConditionRow({ form, path, condition, number, remove }: ConditionRowProps) {
  const strings = useBuilderStrings();
  const { condition_type: type, property_name: property } = condition;
  const isEqual = type === 'eq';
  const rawValue = isEqual ? condition.const : condition.expression;
  const text = typeof rawValue === 'string' ? rawValue : rawValue === undefined ? '' : String(rawValue);
  const valueKey = isEqual ? 'const' : 'expression';
  const change = (nextProperty: string, nextType: string): void => {
    const next = { condition_type: nextType, property_name: nextProperty };
    const constant = nextProperty === 'application' ? toKind(rawValue) : text;
    form.change(path, nextType === 'eq' ? { ...next, const: constant } : { ...next, expression: text });
  };
  const isInvalid = !isEqual && !isExpression(text);
  return (
    <fieldset className="builder-condition" id={toElementId(form, path)}>
      <legend className="visually-hidden">{strings.condition(number)}</legend>
      <FieldFrame form={form} path={[...path, 'property_name']} label={strings.property}>
        {(control) => (
          <select {...control} value={String(property)} onChange={({ target }) => change(target.value, String(type))}>
            {conditionProperties.map((option) => (
              <option key={option} value={option}>
                {strings.properties[option]}
              </option>
            ))}
          </select>
        )}
      </FieldFrame>
      <FieldFrame form={form} path={[...path, 'condition_type']} label={strings.comparison}>
        {(control) => (
          <select {...control} value={String(type)} onChange={({ target }) => change(String(property), target.value)}>
            <option value="eq">{strings.equals}</option>
            <option value="match">{strings.matches}</option>
          </select>
        )}
      </FieldFrame>
      <FieldFrame
        form={form}
        path={[...path, valueKey]}
        label={strings.value}
        error={isInvalid ? strings.invalidPattern : undefined}
      >
        {(control) =>
          isEqual && property === 'application' ? (
            <select
              {...control}
              value={toKind(rawValue)}
              onChange={({ target }) => form.change([...path, valueKey], target.value)}
            >
              <option value="model">{strings.models}</option>
              <option value="application">{strings.applications}</option>
            </select>
          ) : (
            <input
              {...control}
              className={isEqual ? undefined : 'code'}
              value={text}
              onChange={({ target }) => form.change([...path, valueKey], target.value)}
            />
          )
        }
      </FieldFrame>
      <RemoveButton name={strings.condition(number)} remove={remove} />
    </fieldset>
  );
}

/** Returns the kind that the condition form shows for a value of the property `application`. */
function toKind(value: unknown): string {
  return value === true || value === 'true' || value === 'application' ? 'application' : 'model';
}

/** Returns the deployments that meet every condition. Returns undefined if there are no conditions, or if one is incomplete. */
export function findMatching(
  conditions: readonly unknown[],
  deployments: readonly Deployment[],
): readonly Deployment[] | undefined {
  if (conditions.length === 0 || !conditions.every(isComplete)) return undefined;
  const isMatch = createConditionMatcher(conditions);
  return deployments.filter(({ name: displayName, ...deployment }) => isMatch({ ...deployment, displayName }));
}

/** Returns whether a condition of the form is complete and valid. The form writes only known properties. */
function isComplete(condition: unknown): condition is Condition {
  if (!isJsonObject(condition)) return false;
  const { condition_type: type, const: expected, expression } = condition;
  if (type === 'eq') return typeof expected === 'string' || typeof expected === 'boolean';
  return typeof expression === 'string' && isExpression(expression);
}
