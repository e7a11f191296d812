import type { Deployment } from '../../service/deployments.ts';

const hueCount = 6;

/** The icon of a deployment. Icons on other hosts are not loaded, and the first letter of the name is shown instead. */
export function DeploymentIcon({
  deployment,
  size = 'small',
}: {
  readonly deployment: Pick<Deployment, 'id' | 'name' | 'iconUrl'>;
  readonly size?: 'tiny' | 'small' | 'large';
}) {
  const { iconUrl, name, id } = deployment;
  if (iconUrl !== undefined && isSafeIcon(iconUrl, id)) return <img className={`avatar ${size}`} src={iconUrl} alt="" />;
  const hue = [...id].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0) % hueCount;
  return (
    <span className={`avatar letter hue-${hue} ${size}`} aria-hidden="true">
      {[...name][0]?.toUpperCase()}
    </span>
  );
}

function isSafeIcon(url: string, id: string): boolean {
  // Any user can save an application, and a short SVG can freeze the page for minutes.
  if (/^data:image\/svg/i.test(url)) return !id.startsWith('applications/');
  if (/^data:image\//i.test(url)) return true;
  return URL.canParse(url, location.href) && new URL(url, location.href).origin === location.origin;
}
