import { useMemo } from 'react';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { Path } from '#contract/configuration/fault.ts';
import { conditionProperties, isExpression } from '#contract/quick-app/condition-parts.ts';
import type { Condition } from '#contract/quick-app/conditions.ts';
import { meetConditions } from '#contract/quick-app/meet-conditions.ts';
import { usePage } from '../../page/page.tsx';
import { Icon } from '../../parts/icon.tsx';
import type { Deployment } from '../../service/deployments.ts';
import { useBuilderWords } from '../words/builder-words.ts';
import { type BuilderForm, elementId } from './form.ts';
import { FaultAt, FieldFrame } from './frame.tsx';
import { RemoveButton } from './remove-button.tsx';
import { useItemKeys } from './use-item-keys.ts';

interface ConditionsEditorProps {
  readonly form: BuilderForm;
  readonly value: unknown;
  readonly path: Path;
  readonly name: string;
  readonly remove: () => void;
}

/** Conditions that must all hold, and beside them what meets them now. */
export function ConditionsEditor({ form, value, path, name, remove }: ConditionsEditorProps) {
  const words = useBuilderWords();
  const conditions: readonly unknown[] = isJsonObject(value) && Array.isArray(value.conditions) ? value.conditions : [];
  const { keys, forget } = useItemKeys(conditions.length);
  const listPath = [...path, 'conditions'];
  const removeAt = (index: number): void => {
    if (conditions.length === 1) {
      remove();
      return;
    }
    forget(index);
    form.change(
      listPath,
      conditions.filter((_, at) => at !== index),
    );
  };
  return (
    <fieldset className="builder-card-body" id={elementId(form, path)}>
      <legend>{name}</legend>
      <FaultAt {...{ form, path: listPath }} />
      {conditions.map((condition, index) => (
        <ConditionRow
          key={keys[index] ?? index}
          {...{ form, path: [...listPath, index], condition: isJsonObject(condition) ? condition : {} }}
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
          {words.addCondition}
        </button>
      </div>
      <Matches conditions={conditions} />
    </fieldset>
  );
}

function Matches({ conditions }: { readonly conditions: readonly unknown[] }) {
  const words = useBuilderWords();
  const { deployments } = usePage();
  const found = useMemo(() => matching(conditions, deployments), [conditions, deployments]);
  if (found === undefined) return <p className="soft small">{words.notWhole}</p>;
  if (found.length === 0) return <p className="soft small">{words.matchesNone}</p>;
  return (
    <div className="builder-matches">
      <p className="soft small">{words.matchesNow(found.length)}</p>
      <ul className="builder-chips" aria-label={words.matchesNow(found.length)}>
        {found.map(({ id, name }) => (
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
  const words = useBuilderWords();
  const { condition_type: type, property_name: property } = condition;
  const isEqual = type === 'eq';
  const written = isEqual ? condition.const : condition.expression;
  const text = typeof written === 'string' ? written : written === undefined ? '' : String(written);
  const valueKey = isEqual ? 'const' : 'expression';
  const toCondition = (nextType: string, nextText: string): JsonObject => ({
    condition_type: nextType,
    property_name: property,
    ...(nextType === 'eq' ? { const: nextText } : { expression: nextText }),
  });
  const isWrong = !isEqual && !isExpression(text);
  return (
    <fieldset className="builder-condition" id={elementId(form, path)}>
      <legend className="heard-only">{words.condition(number)}</legend>
      <FieldFrame form={form} path={[...path, 'property_name']} label={words.property}>
        {(control) => (
          <select
            {...control}
            value={String(property)}
            onChange={({ target }) => form.change([...path, 'property_name'], target.value)}
          >
            {conditionProperties.map((each) => (
              <option key={each} value={each}>
                {words.properties[each]}
              </option>
            ))}
          </select>
        )}
      </FieldFrame>
      <FieldFrame form={form} path={[...path, 'condition_type']} label={words.comparison}>
        {(control) => (
          <select {...control} value={String(type)} onChange={({ target }) => form.change(path, toCondition(target.value, text))}>
            <option value="eq">{words.equals}</option>
            <option value="match">{words.matches}</option>
          </select>
        )}
      </FieldFrame>
      <FieldFrame form={form} path={[...path, valueKey]} label={words.value} fault={isWrong ? words.notWhole : undefined}>
        {(control) =>
          isEqual && property === 'application' ? (
            <select
              {...control}
              value={toKind(written)}
              onChange={({ target }) => form.change([...path, valueKey], target.value)}
            >
              <option value="model">{words.models}</option>
              <option value="application">{words.applications}</option>
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
      <RemoveButton name={words.condition(number)} remove={remove} />
    </fieldset>
  );
}

function toKind(written: unknown): string {
  return written === true || written === 'true' || written === 'application' ? 'application' : 'model';
}

/** The deployments that meet every condition; undefined if there is none, or one is not whole yet. */
export function matching(conditions: readonly unknown[], deployments: readonly Deployment[]): readonly Deployment[] | undefined {
  if (conditions.length === 0 || !conditions.every(isWhole)) return undefined;
  const meets = meetConditions(conditions);
  return deployments.filter(({ name: displayName, ...deployment }) => meets({ ...deployment, displayName }));
}

/** Whether a condition of the form, which only writes known properties, is one that the service takes. */
function isWhole(condition: unknown): condition is Condition {
  if (!isJsonObject(condition)) return false;
  const { condition_type: type, const: wanted, expression } = condition;
  if (type === 'eq') return typeof wanted === 'string' || typeof wanted === 'boolean';
  return typeof expression === 'string' && isExpression(expression);
}
