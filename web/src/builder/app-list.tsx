import { useCallback, useId, useState } from 'react';
import { isJsonObject, type JsonObject, toObject, toText, tryParseJson } from '#base/json/json.ts';
import { readAppDraft, saveAppDraft } from '../chat/composer/drafts.ts';
import { DeploymentIcon } from '../chat/deployments/deployment-icon.tsx';
import { pickDefaultDeployment } from '../chat/deployments/favorites.ts';
import type { BuilderStrings } from '../locales/en/builder.ts';
import { FileButton, saveFile, toFileName } from '../parts/device-files.tsx';
import { ErrorMessage } from '../parts/error-message.tsx';
import { Icon } from '../parts/icon.tsx';
import { Menu } from '../parts/menu.tsx';
import { NamedPage } from '../parts/named-page.tsx';
import { useConfirmation } from '../parts/question-dialog.tsx';
import { focusHeading } from '../parts/use-focus-inside.ts';
import { useLoaded } from '../parts/use-loaded.ts';
import { type ErrorDetails, toErrorDetails } from '../service/service-error.ts';
import { usePage } from '../shell/page.tsx';
import { formatRoute } from '../shell/route.ts';
import { useLanguage, useStrings } from '../strings/strings.tsx';
import {
  deleteApplication,
  getName,
  getQuickAppType,
  isShared,
  listApplications,
  type OwnApplication,
  readSchema,
  toAccess,
  toEntry,
} from './applications.ts';
import { useBuilderStrings } from './builder-strings.ts';
import { clearSecrets, secretPlaceholder } from './editors/shape.ts';
import { SharedApplications } from './shared-applications.tsx';
import { AccessDialog } from './sharing/sharing-section.tsx';
import type { InitialDraft } from './use-app-draft.ts';

/** Tool of the weather template. The API needs coordinates, which models know for cities. */
const weatherTool: JsonObject = {
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
            ...{ type: 'string', const: 'temperature_2m,precipitation,wind_speed_10m', description: 'Requested values' },
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
  readonly onStart: (initialDraft?: InitialDraft) => void;
}

/** The user's own applications and their actions. */
export function AppList({ openMenu, onStart }: AppListProps) {
  const strings = useStrings();
  const builderStrings = useBuilderStrings();
  const { service, announce, refresh, user } = usePage();
  const load = useCallback(() => listApplications(service), [service]);
  const { value: applications, error: loadError, isLoading, reload } = useLoaded(load);
  const [error, setError] = useState<ErrorDetails>();
  const { askConfirmation, dialog } = useConfirmation();
  const onError = (error: unknown): void => setError(toErrorDetails(error));
  const remove = (application: OwnApplication): void => {
    void askConfirmation(strings.deleteQuestion(getName(application)), strings.confirmDelete).then(async (isConfirmed) => {
      if (!isConfirmed) return;
      setError(undefined);
      await deleteApplication(service, application).then(() => {
        saveAppDraft(user, application.id, '');
        announce(builderStrings.removed(getName(application)));
        focusHeading();
        void refresh().catch(() => undefined);
      }, onError);
      // An application that was changed elsewhere can be deleted only with its new ETag.
      reload();
    });
  };
  const copy = (source: unknown, toName: (name: string) => string, access = toAccess(toObject(source))): void => {
    if (!isJsonObject(source)) {
      setError({ status: 400, code: 'invalid_json', message: builderStrings.noApplicationInFile });
      return;
    }
    const entry = toEntry(source);
    const namedEntry = typeof entry.displayName === 'string' ? { ...entry, displayName: toName(entry.displayName) } : entry;
    readSchema(service).then((schema) => {
      const { entry: copiedEntry, isChanged } = withoutHiddenSecrets(schema, namedEntry);
      const notes = [isChanged && builderStrings.secretsNotCopied, isShared({ access }) && builderStrings.accessNotCopied];
      void start({ entry: copiedEntry, note: notes.filter((note) => note !== false).join(' ') });
    }, onError);
  };
  const start = async (initialDraft: InitialDraft): Promise<void> => {
    const hasDraft = readAppDraft(user, '') !== '';
    if (hasDraft && !(await askConfirmation(builderStrings.replaceDraftQuestion, builderStrings.replaceDraft))) return;
    saveAppDraft(user, '', '');
    onStart(initialDraft);
  };
  const canBuild = loadError?.code !== 'route_not_found';
  return (
    <NamedPage name={builderStrings.title} openMenu={openMenu}>
      {dialog}
      <div className="sheet" aria-busy={isLoading}>
        <h1>{builderStrings.title}</h1>
        <p className="soft">{builderStrings.intro}</p>
        {canBuild ? (
          <>
            <ErrorMessage error={error} />
            <ErrorMessage error={loadError} retry={reload} />
          </>
        ) : (
          <p className="soft" role="alert">
            {builderStrings.noStore}
          </p>
        )}
        {canBuild && (
          <div className="row">
            <button type="button" className="button primary" onClick={() => onStart()}>
              <Icon name="plus" />
              {builderStrings.create}
            </button>
            <FileButton
              {...{ label: builderStrings.importFile, accept: '.json,application/json' }}
              onFile={(file) => void file.text().then((text) => copy(tryParseJson(text), (name) => name))}
            />
          </div>
        )}
        {canBuild && <Templates onStart={(initialDraft) => void start(initialDraft)} />}
        {applications?.length === 0 && <p className="soft">{builderStrings.noApplications}</p>}
        <ul className="consents">
          {applications?.map((application) => (
            <AppItem
              key={application.id}
              application={application}
              duplicate={() => copy(application.entry, builderStrings.copyName, application.access)}
              onShared={reload}
              remove={() => remove(application)}
            />
          ))}
        </ul>
        <SharedApplications />
      </div>
    </NamedPage>
  );
}

function Templates({ onStart }: { readonly onStart: (initialDraft: InitialDraft) => void }) {
  const builderStrings = useBuilderStrings();
  const { deployments } = usePage();
  const headingId = useId();
  const model = pickDefaultDeployment(deployments.filter(({ isApplication }) => !isApplication))?.id ?? '';
  return (
    <section aria-labelledby={headingId}>
      <h2 id={headingId} className="overline">
        {builderStrings.startWithTemplate}
      </h2>
      <ul className="templates">
        {toTemplates(builderStrings, model).map(({ name, purpose, initialDraft }) => (
          <li key={name}>
            <button type="button" className="template" onClick={() => onStart(initialDraft)}>
              <strong>{name}</strong>
              <span className="soft small">{purpose}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface AppItemProps {
  readonly application: OwnApplication;
  readonly duplicate: () => void;
  readonly onShared: () => void;
  readonly remove: () => void;
}

function AppItem({ application, duplicate, remove, onShared }: AppItemProps) {
  const { locale } = useLanguage();
  const builderStrings = useBuilderStrings();
  const { user } = usePage();
  const { id, entry, updatedAtMs } = application;
  const [isSharing, setIsSharing] = useState(false);
  const name = getName(application);
  const date = new Date(updatedAtMs).toLocaleDateString(locale, { dateStyle: 'long' });
  const unsavedNote = readAppDraft(user, id) !== '' && builderStrings.hasUnsavedChanges;
  const notes = [builderStrings.changedOn(date), isShared(application) && builderStrings.shared, unsavedNote];
  const exportFile = (): void => {
    const text = `${JSON.stringify(entry, undefined, 2)}\n`;
    saveFile(toFileName(name, 'json'), new Blob([text], { type: 'application/json' }));
  };
  return (
    <li className="consent">
      <DeploymentIcon deployment={{ id, name, iconUrl: toText(entry.iconUrl) || undefined }} />
      <div className="builder-item">
        <h2>
          <a href={formatRoute({ at: 'applications', id })}>{name}</a>
        </h2>
        {typeof entry.description === 'string' && <p className="small">{entry.description}</p>}
        <p className="soft small">{notes.filter(Boolean).join(' · ')}</p>
      </div>
      <div className="row builder-item-actions">
        <a className="button" href={formatRoute({ at: 'new', deployment: id })} aria-label={`${builderStrings.tryIt}: ${name}`}>
          {builderStrings.tryIt}
        </a>
        <Menu label={builderStrings.moreFor(name)} icon={<Icon name="down" />}>
          <button type="button" onClick={() => setIsSharing(true)}>
            {builderStrings.share}
          </button>
          <button type="button" onClick={duplicate}>
            {builderStrings.duplicate}
          </button>
          <button type="button" onClick={exportFile}>
            {builderStrings.exportFile}
          </button>
          <button type="button" onClick={remove}>
            {builderStrings.remove}
          </button>
        </Menu>
      </div>
      {isSharing && <AccessDialog {...{ id, name }} onChange={onShared} close={() => setIsSharing(false)} />}
    </li>
  );
}

/** Returns a copy of an entry with empty strings for the secrets that the service hides. */
export function withoutHiddenSecrets(schema: JsonObject, entry: JsonObject): { entry: JsonObject; isChanged: boolean } {
  const { applicationProperties: before } = entry;
  let isChanged = false;
  if (!isJsonObject(before)) return { entry, isChanged };
  const after = clearSecrets(schema, before, (secret) => {
    const isHidden = secret === secretPlaceholder;
    isChanged ||= isHidden;
    return isHidden;
  });
  return { entry: { ...entry, applicationProperties: after }, isChanged };
}

/** Returns three templates that use a model available to the user. */
function toTemplates({ templates }: BuilderStrings, model: string) {
  const { documents, webApi, writing } = templates;
  const toTemplate = (texts: typeof documents, properties: JsonObject) => ({
    name: texts.name,
    purpose: texts.purpose,
    initialDraft: {
      note: texts.note,
      entry: {
        ...{ displayName: texts.name, description: texts.purpose, applicationTypeSchemaId: getQuickAppType() },
        applicationProperties: { model, instructions: texts.instructions, starters: texts.starters, ...properties },
      },
    },
  });
  return [
    toTemplate(documents, { temperature: 0.2, document_relative_url: [] }),
    toTemplate(webApi, {
      temperature: 0.2,
      web_api_toolset: [{ type: 'rest-api', name: 'open-meteo.com', tools: [weatherTool] }],
    }),
    toTemplate(writing, { temperature: 0.7 }),
  ];
}
