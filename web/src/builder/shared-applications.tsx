import { useId } from 'react';
import { DeploymentIcon } from '../chat/deployments/deployment-icon.tsx';
import { usePage } from '../shell/page.tsx';
import { formatRoute } from '../shell/route.ts';
import { useStrings } from '../strings/strings.tsx';
import { useBuilderStrings } from './builder-strings.ts';

/** Applications that other users shared directly with the user. */
export function SharedApplications() {
  const strings = useStrings();
  const { tryIt } = useBuilderStrings();
  const headingId = useId();
  const applications = usePage().deployments.filter(({ isApplication, ownerName }) => isApplication && ownerName);
  if (applications.length === 0) return null;
  return (
    <section aria-labelledby={headingId}>
      <h2 id={headingId} className="overline">
        {strings.sharedWithYou}
      </h2>
      <ul className="consents">
        {applications.map(({ id, name, iconUrl, description, ownerName }) => (
          <li key={id} className="consent">
            <DeploymentIcon deployment={{ id, name, iconUrl }} />
            <div className="builder-item">
              <h3>{name}</h3>
              {description !== '' && <p className="small">{description}</p>}
              <p className="soft small">{strings.sharedByOther(ownerName)}</p>
            </div>
            <div className="row builder-item-actions">
              <a className="button" href={formatRoute({ at: 'new', deployment: id })} aria-label={`${tryIt}: ${name}`}>
                {tryIt}
              </a>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
