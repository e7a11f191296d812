import { type Manner, manners } from './requests.ts';

/** Common parameters of every nginx configuration. `isRoot`: workers need a user that may write to the folder. */
interface Place {
  folder: string;
  port: number;
  isRoot: boolean;
}

export interface NginxSetting extends Place {
  upstreamPorts: Record<Manner, number>;
}

export interface AddinNginxSetting extends Place {
  upstreamPort: number;
}

/** Parts of the configuration that differ between gateways. */
interface Gateway {
  /** Log field that identifies the client. */
  who: string;
  maps: string;
  upstreams: Readonly<Record<string, number>>;
  server: string;
}

function toUpstream([name, port]: [string, number]): string {
  return `
  upstream ${name} {
    server 127.0.0.1:${port};
    keepalive 256;
    keepalive_requests 1000000000;
    keepalive_time 24h;
  }`;
}

/** Creates a configuration with one worker, keep-alive upstreams, a 15-field log, and no reply buffering. */
function toConfig({ folder, port, isRoot }: Place, { who, maps, upstreams, server }: Gateway): string {
  const logFields = [
    '$time_iso8601 $remote_addr $request_method $uri $status $request_time $upstream_response_time $upstream_connect_time',
    `$upstream_header_time $upstream_addr $request_length $bytes_sent ${who} $request_id "$http_user_agent"`,
  ].join(' ');
  return `${isRoot ? 'user root;\n' : ''}daemon off;
worker_processes 1;
worker_rlimit_nofile 20000;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log warn;
events { worker_connections 16000; }
http {
  log_format full '${logFields}';
  access_log ${folder}/access.log full buffer=64k flush=1s;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  client_max_body_size 64m;
  client_body_buffer_size 2m;
  gzip off;
  tcp_nodelay on;
  keepalive_timeout 1h;
  keepalive_requests 1000000000;
  proxy_http_version 1.1;
  proxy_buffering off;
  proxy_buffer_size 16k;
  proxy_buffers 8 16k;
  proxy_read_timeout 1h;
  ${maps}${Object.entries(upstreams).map(toUpstream).join('')}
  server {
    listen 127.0.0.1:${port} backlog=4096;
    ${server}
  }
}
`;
}

/**
 * Creates the configuration of a model gateway that checks the key of the client and replaces it with the key of the upstream.
 */
export function toNginxConfig(setting: NginxSetting): string {
  const all = Object.keys(manners) as Manner[];
  const toLocation = (path: string, target: string): string => `
    location = ${path} {
      if ($project = "") { return 401; }
      proxy_pass http://${target};
    }`;
  const locations = all.map((manner) => {
    const { model } = manners[manner];
    return toLocation(`/openai/deployments/${model}/chat/completions`, `${model}/v1/chat/completions`);
  });
  return toConfig(setting, {
    who: '$project',
    maps: `map $http_api_key $project {
    default "";
    bench-key bench;
  }`,
    upstreams: Object.fromEntries(all.map((manner) => [manners[manner].model, setting.upstreamPorts[manner]])),
    server: `proxy_set_header Connection "";
    proxy_set_header Authorization "Bearer sk-upstream";
    proxy_set_header Api-Key "";
    location = /ready { access_log off; return 200; }${locations.join('')}${toLocation('/msgapi/v1/messages', `${manners['at-once'].model}/v1/messages`)}`,
  });
}

const corsFields = [
  'Access-Control-Allow-Origin $http_origin',
  'Access-Control-Allow-Credentials true',
  'Access-Control-Allow-Methods "GET, POST, OPTIONS"',
  'Access-Control-Allow-Headers $http_access_control_request_headers',
  'Access-Control-Max-Age 86400',
  'Vary Origin',
];

const hiddenCors = ['Allow-Origin', 'Allow-Credentials', 'Allow-Methods', 'Allow-Headers', 'Expose-Headers', 'Max-Age'];
const hiddenFields = [...hiddenCors.map((name) => `Access-Control-${name}`), 'Vary', 'Set-Cookie'];

/** Creates the rules of the add-in gateway in nginx (see docs/addin.md). */
export function toAddinNginxConfig(setting: AddinNginxSetting): string {
  return toConfig(setting, {
    who: '$http_origin',
    maps: `map "$http_x_api_key:$http_authorization" $addin_key {
    default $http_x_api_key;
    "~*^:bearer +(?<token>.+)$" $token;
  }`,
    upstreams: { service: setting.upstreamPort },
    server: `${hiddenFields.map((name) => `proxy_hide_header ${name};`).join('\n    ')}
    ${corsFields.map((field) => `add_header ${field} always;`).join('\n    ')}
    if ($request_method = OPTIONS) { return 204; }
    location / { return 404; }
    location = /msgapi/v1/models {
      default_type application/json;
      return 200 '{"data":[],"object":"list","has_more":false}';
    }
    location /msgapi/v1/ {
      proxy_pass http://service;
      proxy_set_header Connection "";
      proxy_set_header Host 127.0.0.1:${setting.upstreamPort};
      proxy_set_header Api-Key $addin_key;
      proxy_set_header x-api-key "";
      proxy_set_header Authorization "";
      proxy_set_header Cookie "";
      proxy_set_header X-Real-IP $remote_addr;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto $scheme;
    }`,
  });
}
