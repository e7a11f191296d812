import { useEffect, useId, useState } from 'react';
import { usePage } from '../page/page.tsx';
import { type Deployment, readStarters } from '../service/deployments.ts';
import { useStrings } from '../strings/strings.tsx';
import { DeploymentIcon } from './deployments/deployment-icon.tsx';
import { focusMessage } from './focus-message.ts';
import type { UserMessage } from './user-message.ts';
import './start-view.css';

interface StartViewProps {
  readonly deployment: Deployment | undefined;
  /** Project that the new chat belongs to. */
  readonly project?: string | undefined;
  readonly sendMessage: (message: UserMessage) => void;
  readonly choose: (id: string) => void;
}

/** The view before the first question: the deployment and suggestions. */
export function StartView({ deployment, project, sendMessage, choose }: StartViewProps) {
  const strings = useStrings();
  const starters = useStarters(deployment);
  const { deployments } = usePage();
  if (deployment === undefined) {
    return (
      <div className="beginning">
        <p className="soft">{deployments.length === 0 ? strings.noDeployments : strings.chooseFirst}</p>
      </div>
    );
  }
  return (
    <div className="beginning">
      <DeploymentIcon deployment={deployment} size="large" />
      <h1>{strings.emptyTitle}</h1>
      {project !== undefined && <p className="note">{strings.startsInProject(project)}</p>}
      {deployment.description !== '' && (
        <p className="soft">
          <strong>{deployment.name}</strong> · {deployment.description}
        </p>
      )}
      <p className="soft">{starters.length > 0 ? strings.emptyHint : strings.emptyHintPlain}</p>
      <ul className="starters" aria-label={strings.starters}>
        {starters.map((starter) => (
          <li key={starter}>
            <button type="button" className="starter" onClick={() => sendMessage({ text: starter, attachments: [] })}>
              {starter}
            </button>
          </li>
        ))}
      </ul>
      <OtherDeployments {...{ deployment, choose }} />
    </div>
  );
}

const maxSuggestions = 5;

/**
 * Suggests other deployments, applications first, because new users may not know where to choose them. Deployments that other
 * users shared are not suggested.
 */
function OtherDeployments({ deployment, choose }: { readonly deployment: Deployment; readonly choose: (id: string) => void }) {
  const strings = useStrings();
  const { deployments } = usePage();
  const label = useId();
  const suggestions = deployments
    .filter(({ id, owner }) => id !== deployment.id && owner !== 'other')
    .sort((left, right) => Number(right.isApplication) - Number(left.isApplication))
    .slice(0, maxSuggestions);
  if (suggestions.length === 0) return null;
  const pick = (id: string): void => {
    // The button disappears, because the chosen deployment is no longer another one.
    focusMessage();
    choose(id);
  };
  return (
    <section className="others" aria-labelledby={label}>
      <h2 id={label} className="overline">
        {strings.talkToOthers}
      </h2>
      <ul className="row">
        {suggestions.map((item) => (
          <li key={item.id}>
            <button type="button" className="button other" title={item.description || undefined} onClick={() => pick(item.id)}>
              <DeploymentIcon deployment={item} size="tiny" />
              {item.name}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Empty until the service responds. Falls back to a starter that suits every deployment. */
function useStarters(deployment: Deployment | undefined): readonly string[] {
  const strings = useStrings();
  const { service } = usePage();
  const [starters, setStarters] = useState<readonly string[]>([]);
  const { id, owner } = deployment ?? {};
  useEffect(() => {
    let isCanceled = false;
    setStarters([]);
    if (id !== undefined && owner !== undefined) {
      void readStarters(service, { id, owner }).then((prompts) => {
        if (!isCanceled) setStarters(prompts.length > 0 ? [...new Set(prompts)] : [strings.defaultStarter]);
      });
    }
    return () => {
      isCanceled = true;
    };
  }, [id, owner, service, strings]);
  return starters;
}
