import { useCallback, useEffect, useId, useRef, useState } from 'react';
import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { usePage } from '../page/page.tsx';
import { toHash } from '../page/place.ts';
import { Icon } from '../parts/icon.tsx';
import { Menu } from '../parts/menu.tsx';
import { NamedPage } from '../parts/named-page.tsx';
import { useQuestion } from '../parts/question-dialog.tsx';
import { saveFile, toFileName } from '../parts/save-file.ts';
import { Trouble } from '../parts/trouble.tsx';
import { type Fault, faultOf } from '../service/fault.ts';
import { useLanguage, useWords } from '../words/words.tsx';
import {
  deleteApplication,
  listApplications,
  nameOf,
  type OwnApplication,
  quickAppType,
  readSchema,
  toEntry,
} from './applications.ts';
import type { Beginning } from './beginning.ts';
import { emptySecrets, hiddenSecret } from './editors/shape.ts';
import type { BuilderWords } from './words/builder-english.ts';
import { useBuilderWords } from './words/builder-words.ts';

/** Coordinates are what the API asks for; a model knows those of cities. */
const forecast: JsonObject = {
  rest_api_method_info: { method_url: 'https://api.open-meteo.com/v1/forecast', method_type: 'get' },
  open_ai_tool: {
    type: 'function',
    function: {
      name: 'get_weather',
      description: 'Gives the weather at a place now',
      parameters: {
        type: 'object',
        properties: {
          latitude: { type: 'number', description: 'Latitude of the place', parameter_info: { type: 'query', key: 'latitude' } },
          longitude: {
            type: 'number',
            description: 'Longitude of the place',
            parameter_info: { type: 'query', key: 'longitude' },
          },
          current: {
            ...{ type: 'string', const: 'temperature_2m,precipitation,wind_speed_10m', description: 'What is told' },
            parameter_info: { type: 'query', key: 'current' },
          },
        },
        required: ['latitude', 'longitude'],
      },
    },
  },
};

interface AppListProps {
  readonly openMenu: () => void;
  readonly begin: (beginning?: Beginning) => void;
}

/** The user's own applications, each with what can be done with it. */
export function AppList({ openMenu, begin }: AppListProps) {
  const words = useWords();
  const builderWords = useBuilderWords();
  const { service, announce, refresh } = usePage();
  const [applications, setApplications] = useState<readonly OwnApplication[]>();
  const [fault, setFault] = useState<Fault>();
  const load = useCallback(
    () => listApplications(service).then(setApplications, (thrown: unknown) => setFault(faultOf(thrown))),
    [service],
  );
  useEffect(() => void load(), [load]);
  const { ask, dialog } = useQuestion();
  const fail = (thrown: unknown): void => setFault(faultOf(thrown));
  const remove = (application: OwnApplication): void => {
    void ask(words.deleteQuestion(nameOf(application)), words.deleteForGood).then(async (isYes) => {
      if (!isYes) return;
      await deleteApplication(service, application).then(() => {
        announce(builderWords.removed(nameOf(application)));
        void load();
        void refresh().catch(() => undefined);
      }, fail);
    });
  };
  const copy = (answer: unknown, toName: (name: string) => string): void => {
    if (!isJsonObject(answer)) {
      setFault({ status: 400, code: 'invalid_json', message: builderWords.notAnEntry });
      return;
    }
    const entry = toEntry(answer);
    const name = typeof entry.displayName === 'string' ? toName(entry.displayName) : undefined;
    readSchema(service).then((schema) => {
      const { entry: copied, isChanged } = withoutHiddenSecrets(schema, {
        ...entry,
        ...(name !== undefined && { displayName: name }),
      });
      begin({ entry: copied, note: isChanged ? builderWords.secretsLeftOut : '' });
    }, fail);
  };
  const canBuild = fault?.code !== 'route_not_found';
  return (
    <NamedPage name={builderWords.title} openMenu={openMenu}>
      {dialog}
      <div className="sheet" aria-busy={applications === undefined && fault === undefined}>
        <h1>{builderWords.title}</h1>
        <p className="soft">{builderWords.intro}</p>
        {canBuild ? (
          <Trouble fault={fault} />
        ) : (
          <p className="soft" role="alert">
            {builderWords.noStore}
          </p>
        )}
        {canBuild && (
          <div className="row">
            <button type="button" className="button primary" onClick={() => begin()}>
              <Icon name="plus" />
              {builderWords.create}
            </button>
            <ImportButton take={(text) => copy(tryParseJson(text), (name) => name)} />
          </div>
        )}
        {canBuild && <Templates begin={begin} />}
        {applications?.length === 0 && <p className="soft">{builderWords.none}</p>}
        <ul className="consents">
          {applications?.map((application) => (
            <AppItem
              key={application.id}
              application={application}
              duplicate={() => copy(application.entry, builderWords.copyOf)}
              remove={() => remove(application)}
            />
          ))}
        </ul>
      </div>
    </NamedPage>
  );
}

function Templates({ begin }: Pick<AppListProps, 'begin'>) {
  const builderWords = useBuilderWords();
  const { deployments } = usePage();
  const head = useId();
  const model = deployments.find(({ isApplication }) => !isApplication)?.id ?? '';
  return (
    <section aria-labelledby={head}>
      <h2 id={head} className="overline">
        {builderWords.beginWith}
      </h2>
      <ul className="templates">
        {toTemplates(builderWords, model).map(({ name, purpose, beginning }) => (
          <li key={name}>
            <button type="button" className="template" onClick={() => begin(beginning)}>
              <strong>{name}</strong>
              <span className="soft small">{purpose}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function ImportButton({ take }: { readonly take: (text: string) => void }) {
  const builderWords = useBuilderWords();
  const picker = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        {...{ ref: picker, type: 'file', accept: '.json,application/json', hidden: true, 'aria-label': builderWords.importFile }}
        onChange={({ target }) => {
          void target.files?.[0]?.text().then(take);
          target.value = '';
        }}
      />
      <button type="button" className="button" onClick={() => picker.current?.click()}>
        {builderWords.importFile}
      </button>
    </>
  );
}

interface AppItemProps {
  readonly application: OwnApplication;
  readonly duplicate: () => void;
  readonly remove: () => void;
}

function AppItem({ application, duplicate, remove }: AppItemProps) {
  const { language } = useLanguage();
  const builderWords = useBuilderWords();
  const { id, entry, updatedAtMs } = application;
  const name = nameOf(application);
  const date = new Date(updatedAtMs).toLocaleDateString(language, { dateStyle: 'long' });
  const exportFile = (): void => {
    const text = `${JSON.stringify(entry, undefined, 2)}\n`;
    saveFile(toFileName(name, 'json'), new Blob([text], { type: 'application/json' }));
  };
  return (
    <li className="consent">
      <div className="builder-item">
        <h2>
          <a href={toHash({ at: 'applications', id })}>{name}</a>
        </h2>
        {typeof entry.description === 'string' && <p className="small">{entry.description}</p>}
        <p className="soft small">{builderWords.changedOn(date)}</p>
      </div>
      <div className="row builder-item-actions">
        <a className="button" href={toHash({ at: 'new', deployment: id })} aria-label={`${builderWords.tryIt}: ${name}`}>
          {builderWords.tryIt}
        </a>
        <Menu label={builderWords.actionsOf(name)} icon={<Icon name="down" />}>
          <button type="button" onClick={duplicate}>
            {builderWords.duplicate}
          </button>
          <button type="button" onClick={exportFile}>
            {builderWords.exportFile}
          </button>
          <button type="button" onClick={remove}>
            {builderWords.remove}
          </button>
        </Menu>
      </div>
    </li>
  );
}

/** An entry that is to become another application: what is stored of its secrets stays with the first. */
export function withoutHiddenSecrets(schema: JsonObject, entry: JsonObject): { entry: JsonObject; isChanged: boolean } {
  const { applicationProperties: before } = entry;
  let isChanged = false;
  const isGone = (secret: string): boolean => {
    const isHidden = secret === hiddenSecret;
    isChanged ||= isHidden;
    return isHidden;
  };
  if (!isJsonObject(before)) return { entry, isChanged };
  const after = emptySecrets(schema, before, isGone);
  return { entry: { ...entry, applicationProperties: after }, isChanged };
}

/** An application that is nearly made: what it is for, and what it begins with. */
interface Template {
  readonly name: string;
  readonly purpose: string;
  readonly beginning: Beginning;
}

/** Three to begin with, for a model that the user may talk to. */
function toTemplates({ templates }: BuilderWords, model: string): readonly Template[] {
  const { documents, webApi, writing } = templates;
  const toTemplate = (words: typeof documents, properties: JsonObject): Template => ({
    name: words.name,
    purpose: words.purpose,
    beginning: {
      note: words.note,
      entry: {
        ...{ displayName: words.name, description: words.purpose, applicationTypeSchemaId: quickAppType() },
        applicationProperties: { model, instructions: words.instructions, starters: words.starters, ...properties },
      },
    },
  });
  return [
    toTemplate(documents, { temperature: 0.2, document_relative_url: [] }),
    toTemplate(webApi, {
      temperature: 0.2,
      web_api_toolset: [{ type: 'rest-api', name: 'open-meteo.com', tools: [forecast] }],
    }),
    toTemplate(writing, { temperature: 0.7 }),
  ];
}
