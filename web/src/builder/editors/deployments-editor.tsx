import { useId, useState } from 'react';
import { isJsonObject } from '#base/json/json.ts';
import { useNameOf, usePage } from '../../page/page.tsx';
import { Icon } from '../../parts/icon.tsx';
import { isComposing } from '../../parts/is-composing.ts';
import { sharedBy } from '../../words/shared-by.ts';
import { useWords } from '../../words/words.tsx';
import { useBuilderWords } from '../words/builder-words.ts';
import { ConditionsEditor } from './conditions-editor.tsx';
import type { EditorProps } from './form.ts';
import { elementId } from './form.ts';
import { FaultAt, FieldGroup } from './frame.tsx';
import { RemoveButton } from './remove-button.tsx';
import { ToolTest } from './tool-test.tsx';
import { tryDeployment } from './tool-trial.ts';

const mostOffered = 8;

/** Other deployments as tools: some chosen by name, others found by conditions. */
export function DeploymentsEditor({ value, path, form, label, hint, isLabelHeard }: EditorProps) {
  const words = useBuilderWords();
  const nameOf = useNameOf();
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  const indexed = items.map((item, index) => ({ item, index }));
  const put = (next: readonly unknown[]): void => form.change(path, next.length === 0 ? undefined : next);
  const remove = (index: number): void => put(items.filter((_, at) => at !== index));
  const groups = indexed.filter(({ item }) => isJsonObject(item));
  return (
    <FieldGroup {...{ form, path, label, hint, isLabelHeard, className: 'builder-list' }}>
      <h3 className="overline">{words.deploymentIds}</h3>
      <ul className="builder-chips">
        {indexed.map(
          ({ item, index }) =>
            typeof item === 'string' && (
              <li key={item} className="upload" id={elementId(form, [...path, index])}>
                <span className="upload-name" title={item}>
                  {nameOf(item)}
                </span>
                <SharedBy id={item} />
                <RemoveButton name={nameOf(item)} icon="close" remove={() => remove(index)} />
                <FaultAt {...{ form, path: [...path, index] }} />
              </li>
            ),
        )}
      </ul>
      <DeploymentTests ids={items.filter((item) => typeof item === 'string')} />
      <DeploymentSearch taken={[...items, form.saved?.id]} add={(id) => put([...items, id])} />
      <h3 className="overline">{words.conditionSets}</h3>
      <p className="soft small">{words.conditionsHint}</p>
      <ul>
        {groups.map(({ item, index }, number) => (
          <li key={index} className="builder-card">
            <ConditionsEditor
              {...{ form, value: item, path: [...path, index] }}
              name={words.conditionGroup(number + 1)}
              remove={() => remove(index)}
            />
          </li>
        ))}
      </ul>
      <button
        type="button"
        className="button"
        onClick={() => put([...items, { conditions: [{ condition_type: 'eq', property_name: 'application', const: 'model' }] }])}
      >
        <Icon name="plus" />
        {words.addConditions}
      </button>
    </FieldGroup>
  );
}

/** Each of them can be asked as the application would. */
function DeploymentTests({ ids }: { readonly ids: readonly string[] }) {
  const { trial } = useBuilderWords();
  const { service } = usePage();
  const nameOf = useNameOf();
  const schema = { type: 'object', properties: { query: { type: 'string', title: trial.question } }, required: ['query'] };
  return ids.map((id) => (
    <ToolTest
      key={id}
      {...{ name: nameOf(id), isNameShown: true, schema }}
      run={({ query }, signal) => tryDeployment(service, id, String(query), signal)}
    />
  ));
}

/** Beside the name of what another user saved. */
function SharedBy({ id }: { readonly id: string }) {
  const words = useWords();
  const { deployments } = usePage();
  const found = deployments.find((each) => each.id === id);
  const sharer = found === undefined ? '' : sharedBy(found, words);
  return sharer === '' ? null : <span className="option-sharer small">{sharer}</span>;
}

function DeploymentSearch({ taken, add }: { readonly taken: readonly unknown[]; readonly add: (id: string) => void }) {
  const words = useWords();
  const builderWords = useBuilderWords();
  const { deployments } = usePage();
  const [query, setQuery] = useState('');
  const id = useId();
  const sought = query.trim().toLowerCase();
  const found = deployments.filter(
    (each) => !taken.includes(each.id) && `${each.id} ${each.name} ${each.description}`.toLowerCase().includes(sought),
  );
  const pick = (picked: string): void => {
    setQuery('');
    add(picked);
    document.getElementById(id)?.focus();
  };
  return (
    <div className="builder-search">
      <div className="search">
        <Icon name="search" />
        <label className="heard-only" htmlFor={id}>
          {builderWords.findDeployment}
        </label>
        <input
          {...{ id, type: 'search', value: query, placeholder: builderWords.findDeployment }}
          onChange={({ target }) => setQuery(target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || isComposing(event.nativeEvent)) return;
            event.preventDefault();
            if (sought !== '' && found[0] !== undefined) pick(found[0].id);
          }}
        />
      </div>
      {sought !== '' && found.length === 0 && <p className="soft small">{words.noDeploymentFound(query.trim())}</p>}
      {sought !== '' && (
        <div className="options">
          {found.slice(0, mostOffered).map((each) => (
            <button key={each.id} type="button" className="button" title={each.id} onClick={() => pick(each.id)}>
              <Icon name="plus" />
              {each.name}
              <SharedBy id={each.id} />
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
