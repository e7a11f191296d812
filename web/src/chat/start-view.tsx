import { useEffect, useState } from 'react';
import type { UserMessage } from '../conversation/conversation.ts';
import { PlainText } from '../markdown/long-text.tsx';
import { type Deployment, readStarters } from '../service/deployments.ts';
import { usePage } from '../shell/page.tsx';
import { useStrings } from '../strings/strings.tsx';
import { DeploymentIcon } from './deployments/deployment-icon.tsx';
import { focusMessage } from './focus-message.ts';
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
      <div className="start-view">
        <p className="soft">{deployments.length === 0 ? strings.noDeployments : strings.chooseFirst}</p>
      </div>
    );
  }
  return (
    <div className="start-view">
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
              <PlainText text={starter} />
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
 * Applications that another user shared directly with this user, and suggested deployments. Applications come first, because new
 * users may not know where to find them. Deployments that were only shared with a role are not suggested.
 */
function OtherDeployments({ deployment, choose }: { readonly deployment: Deployment; readonly choose: (id: string) => void }) {
  const strings = useStrings();
  const choices = usePage().deployments.filter(({ id }) => id !== deployment.id);
  const suggestions = choices
    .filter(({ owner }) => owner !== 'other')
    .sort((left, right) => Number(right.isApplication) - Number(left.isApplication));
  const shared = choices.filter(({ ownerName }) => ownerName);
  const pick = (id: string): void => {
    // The button disappears, because the list omits the chosen deployment.
    focusMessage();
    choose(id);
  };
  const rows = [[strings.sharedWithYou, shared] as const, [strings.talkToOthers, suggestions] as const];
  return rows.map(
    ([label, items]) =>
      items.length > 0 && (
        <section key={label} className="other-deployments" aria-label={label}>
          <h2 className="overline">{label}</h2>
          <ul className="row">
            {items.slice(0, maxSuggestions).map((item) => (
              <li key={item.id}>
                <button
                  type="button"
                  className="button other-deployment"
                  title={item.description || undefined}
                  onClick={() => pick(item.id)}
                >
                  <DeploymentIcon deployment={item} size="tiny" />
                  {item.name}
                  {item.ownerName && <span className="small">({item.ownerName})</span>}
                </button>
              </li>
            ))}
          </ul>
        </section>
      ),
  );
}

/**
 * Returns suggestions for the first question. Empty until the service responds. Falls back to a suggestion that suits every
 * deployment.
 */
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
