// The page of a Caravan node. What it shows comes from the shared directory and from other people's data: it is put in
// as text, never as markup.
'use strict';

const MOST_CELLS = 2000;
const LOG_BYTES = 65536;
const WORST_FIRST = ['failed', 'stale', 'running', 'pending', 'done'];
const ENDED = ['done', 'failed', 'cancelled'];

const main = document.getElementById('main');
const state = {jobs: [], nodes: [], job: null, shards: [], figures: null, cell: null, shard: null, attempts: [], log: null};
let view = {name: 'jobs'};
let loading = 0;

// ---- asking

function token() {
  return sessionStorage.getItem('token') || '';
}

async function ask(path, options = {}) {
  const headers = token() ? {Authorization: 'Bearer ' + token()} : {};
  const answer = await fetch(path, {headers, ...options});
  if (!answer.ok) {
    const told = await answer.json().catch(() => ({error: answer.statusText}));
    throw Object.assign(new Error(told.error), {status: answer.status});
  }
  return answer;
}

async function read(path) {
  return (await ask(path)).json();
}

function path(...names) {
  return '/api/' + names.map(encodeURIComponent).join('/');
}

async function act(url, question) {
  if (question && !confirm(question)) return;
  if (!token() && !await askToken()) return;
  try {
    await ask(url, {method: 'POST'});
    notice('');
  } catch (e) {
    if (e.status === 401) sessionStorage.removeItem('token');
    notice(e.message);
  }
  await load();
}

function askToken() {
  const dialog = document.getElementById('ask');
  const field = document.getElementById('token');
  field.value = '';
  dialog.returnValue = 'cancel';
  dialog.showModal();
  return new Promise(done => dialog.addEventListener('close', () => {
    const given = dialog.returnValue === 'ok' ? field.value.trim() : '';
    if (given) sessionStorage.setItem('token', given);
    field.value = '';
    done(given !== '');
  }, {once: true}));
}

function notice(text) {
  const line = document.getElementById('notice');
  line.textContent = text;
  line.hidden = !text;
}

// ---- building

function el(tag, attributes, ...children) {
  const svg = ['svg', 'rect', 'title'].includes(tag);
  const node = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    node.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined) node.append(child instanceof Node ? child : String(child));
  }
  return node;
}

function table(columns, rows) {
  const head = columns.map(([name, number]) => el('th', {scope: 'col', class: number ? 'number' : null}, name));
  const body = rows.map(cells =>
    el('tr', null, cells.map((cell, i) => el('td', {class: columns[i][1] ? 'number' : null, 'data-label': columns[i][0]}, cell))));
  return el('div', {class: 'wide'}, el('table', null, el('thead', null, el('tr', null, head)), el('tbody', null, body)));
}

function section(title, ...content) {
  return el('section', null, el('h2', null, title), content);
}

function badge(text) {
  return el('span', {class: 'state ' + text}, text);
}

function button(label, data, kind) {
  return el('button', {type: 'button', class: kind, ...data}, label);
}

const number = value => Number(value).toLocaleString('en');

function duration(seconds) {
  if (seconds > 0 && seconds < 10) return seconds.toFixed(1) + ' s';
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return s + ' s';
  if (s < 3600) return Math.floor(s / 60) + ' min ' + s % 60 + ' s';
  return Math.floor(s / 3600) + ' h ' + Math.floor(s % 3600 / 60) + ' min';
}

/** Makes the old node what the new one is, and leaves alone what is the same: focus, selection and scroll stay. */
function morph(old, now) {
  if (old.nodeType !== now.nodeType || old.nodeName !== now.nodeName) {
    old.replaceWith(now);
    return;
  }
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.nodeValue !== now.nodeValue) old.nodeValue = now.nodeValue;
    return;
  }
  for (const {name} of [...old.attributes]) if (!now.hasAttribute(name)) old.removeAttribute(name);
  for (const {name, value} of [...now.attributes]) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  const before = [...old.childNodes];
  const after = [...now.childNodes];
  after.forEach((child, i) => i < before.length ? morph(before[i], child) : old.append(child));
  before.slice(after.length).forEach(child => child.remove());
}

// ---- views

function bar(shards) {
  const parts = ['done', 'running', 'stale', 'failed'].filter(name => shards[name] > 0).map(name => {
    const part = el('i', {class: name, 'data-share': shards[name] / shards.total});
    return part;
  });
  return el('div', {class: 'bar', role: 'progressbar', 'aria-valuemin': 0, 'aria-valuemax': shards.total,
    'aria-valuenow': shards.done, 'aria-label': 'shards done'}, parts);
}

function pace(job) {
  return job.pace
    ? number(job.pace.rows_per_second.toFixed(1)) + ' rows/s, ETA ' + duration(job.pace.eta_seconds)
    : '';
}

function jobsView() {
  if (!state.jobs.length) {
    return [el('h1', null, 'Jobs'), section('No job yet', el('p', null, 'Drop a job descriptor into the inbox: '
      + 'caravan submit JOB.yaml --root DIR'))];
  }
  const order = job => ENDED.includes(job.state) ? 1 : 0;
  const jobs = [...state.jobs].sort((a, b) => order(a) - order(b));
  return [el('h1', null, 'Jobs'), el('section', {'aria-label': 'Jobs'}, jobs.map(job => el('div', {class: 'job'},
    el('a', {href: '#/job/' + encodeURIComponent(job.job)}, job.job),
    badge(job.state),
    bar(job.shards),
    el('span', {class: 'counts'}, `${number(job.shards.done)} of ${number(job.shards.total)} shards`
      + (job.shards.failed ? `, ${number(job.shards.failed)} failed` : ''),
      el('br'), el('span', {class: 'dim'}, pace(job) || `${number(job.rows.done)} of ${number(job.rows.total)} rows`)),
    job.error ? el('span', {class: 'error'}, job.error) : null))), nodesSection()];
}

function nodesSection() {
  const order = ['live', 'late', 'left'];
  const nodes = [...state.nodes].sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  if (!nodes.length) return section('Nodes', el('p', {class: 'dim'}, 'No node shows itself here.'));
  return el('section', {class: 'stack'}, el('h2', null, 'Nodes'), table(
    [['node'], ['state'], ['slots', true], ['GPUs', true], ['load', true], ['last beat', true], ['']],
    nodes.map(node => [
      [el('strong', null, node.id), el('br'), el('span', {class: 'dim'}, node.hostname),
        node.trouble ? el('div', null, node.trouble) : null],
      badge(node.leaving && node.state === 'live' ? 'leaving' : node.state),
      `${node.running ?? 0} of ${node.slots}`,
      node.gpus,
      node.load === undefined ? '' : `${Number(node.load).toFixed(1)} on ${node.cpus} CPUs`,
      node.state === 'left' ? '' : duration(Math.round(node.age_millis / 1000)) + ' ago',
      node.state === 'left' ? '' : button('Drain', {'data-drain': node.id}),
    ])));
}

function actions(job) {
  const buttons = [];
  if (!ENDED.includes(job.state) && job.state !== 'preparing') {
    buttons.push(job.state === 'paused' ? button('Resume', {'data-act': 'resume'}) : button('Pause', {'data-act': 'pause'}));
  }
  if (job.shards.failed && job.state !== 'cancelled') buttons.push(button('Retry failed shards', {'data-act': 'retry'}));
  if (job.state !== 'done' && job.state !== 'cancelled' && job.state !== 'preparing') {
    buttons.push(button('Cancel job', {'data-act': 'cancel'}, 'danger'));
  }
  return buttons.length ? el('p', {class: 'buttons'}, buttons) : null;
}

function facts(pairs) {
  return el('dl', null, pairs.filter(([, value]) => value).map(([name, value]) => [el('dt', null, name), el('dd', null, value)]));
}

function cells() {
  const size = Math.ceil(state.shards.length / MOST_CELLS) || 1;
  const all = [];
  for (let i = 0; i < state.shards.length; i += size) {
    const shards = state.shards.slice(i, i + size);
    all.push({shards, state: WORST_FIRST.find(name => shards.some(shard => shard.state === name))});
  }
  return all;
}

function shardMap(job) {
  const all = cells();
  const focused = Math.min(state.cell ?? 0, all.length - 1);
  const legend = ['done', 'running', 'pending', 'stale', 'failed'].map(name =>
    el('li', null, el('b', {class: name}), `${name} ${number(job.shards[name])}`));
  return section('Shards',
    el('ul', {class: 'legend'}, legend),
    el('div', {class: 'map', role: 'group', 'aria-label': 'Shards, arrow keys move'}, all.map((cell, i) => {
      const first = cell.shards[0];
      const label = cell.shards.length === 1 ? `${first.id}: ${cell.state}${first.node ? ', ' + first.node : ''}`
        : `${first.id} and ${cell.shards.length - 1} more: ${cell.state}`;
      return el('button', {type: 'button', class: cell.state, title: label, 'aria-label': label, 'data-cell': i,
        'aria-pressed': i === state.cell ? 'true' : 'false', tabindex: i === focused ? 0 : -1});
    })),
    state.cell === null || !all[state.cell] ? el('p', {class: 'dim'}, 'Choose a shard to see its attempts and logs.')
      : shardDetail(all[state.cell]));
}

function shardDetail(cell) {
  const shard = state.shards.find(each => each.id === state.shard) || cell.shards[0];
  const others = cell.shards.length > 1
    ? el('p', {class: 'buttons'}, cell.shards.map(each => button(each.id + ': ' + each.state, {'data-shard': each.id})))
    : null;
  const rows = state.attempts.map(({name, log_bytes: bytes, record}) => [
    record.epoch + (record.speculative ? ', speculative' : ''), badge(record.status), record.node, record.started_at.replace('T', ' ').slice(0, 19),
    record.reason || '',
    button(bytes ? 'Log' : 'No log', {'data-log': name, 'aria-pressed': state.log?.name === name ? 'true' : 'false'})]);
  return el('div', null, others,
    facts([['shard', shard.id], ['state', shard.state], ['rows', number(shard.rows)], ['node', shard.node], ['note', shard.note]]),
    rows.length ? table([['epoch', true], ['status'], ['node'], ['started (UTC)'], ['why'], ['']], rows)
      : el('p', {class: 'dim'}, 'No attempt yet.'),
    state.log ? el('pre', {id: 'log', tabindex: 0, 'aria-label': 'log'}, state.log.text || '(empty)') : null);
}

function throughput(stretches) {
  if (!stretches.length) return el('p', {class: 'dim'}, 'Nothing is done yet.');
  const most = Math.max(1, ...stretches.map(each => each.rows));
  const width = Math.min(8, 100 / stretches.length);
  const time = from => new Date(from).toLocaleTimeString('en', {hour12: false});
  return [el('svg', {viewBox: '0 0 100 100', preserveAspectRatio: 'none', role: 'img', 'aria-label': 'rows done over time'},
    stretches.map((each, i) => {
      const height = each.rows / most * 100;
      return el('rect', {x: i * width, y: 100 - height, width: width * .9, height},
        el('title', null, `${time(each.from)}: ${number(each.rows)} rows in ${each.seconds} s`));
    })),
    el('p', {class: 'scale'}, el('span', null, time(stretches[0].from)),
      el('span', null, `highest: ${number(Math.round(most / stretches[0].seconds))} rows/s`),
      el('span', null, time(stretches[stretches.length - 1].from)))];
}

function shardLink(id) {
  return button(id, {'data-shard': id}, 'link');
}

function jobView() {
  const job = state.job;
  if (!job) return [el('p', null, 'Loading.')];
  const figures = state.figures;
  const top = el('section', null,
    el('h1', null, job.job, ' ', badge(job.state)),
    bar(job.shards),
    facts([
      ['shards', `${number(job.shards.done)} of ${number(job.shards.total)} done`],
      ['rows', `${number(job.rows.done)} of ${number(job.rows.total)} done, ${number(job.rows.out)} out`],
      ['quarantine', job.rows.quarantined && `bad lines of the input: ${number(job.rows.quarantined)}`],
      ['failed records', job.rows.failed && `${number(job.rows.failed)} set aside`],
      ['pace', pace(job)], ['error', job.error], ['output', job.output], ['SHA-256', job.sha256], ['directory', job.job_dir]]),
    actions(job));
  const parts = [top, shardMap(job)];
  if (figures) {
    parts.push(el('div', {class: 'pair'},
      section('Rows done over time', throughput(figures.throughput)),
      section('Slowest shards', figures.slowest.length
        ? table([['shard'], ['node'], ['time', true]], figures.slowest.map(span =>
          [shardLink(span.shard), span.node, duration(span.seconds)]))
        : el('p', {class: 'dim'}, 'None is done yet.')),
      section('What attempts failed of', figures.errors.length
        ? table([['class'], ['cause'], ['times', true], ['example']], figures.errors.map(error =>
          [badge(error.failure_class), error.example.reason, number(error.count), shardLink(error.example.shard)]))
        : el('p', {class: 'dim'}, 'No attempt has failed.')),
      section('Nodes of this job', job.nodes.length
        ? table([['node'], ['done', true], ['running', true]], job.nodes.map(node =>
          [node.node, number(node.done), number(node.running)]))
        : el('p', {class: 'dim'}, 'None yet.'))));
  }
  return parts;
}

function render() {
  const views = {jobs: jobsView, nodes: () => [el('h1', null, 'Nodes'), nodesSection()], job: jobView};
  const log = document.getElementById('log');
  const atEnd = !log || log.scrollHeight - log.scrollTop - log.clientHeight < 30;
  morph(main, el('main', {id: 'main', tabindex: -1}, views[view.name]()));
  for (const part of main.querySelectorAll('[data-share]')) part.style.width = part.dataset.share * 100 + '%';
  const logNow = document.getElementById('log');
  if (logNow && atEnd) logNow.scrollTop = logNow.scrollHeight;
  document.title = view.name === 'job' ? view.job + ' - Caravan' : 'Caravan';
}

// ---- what happens

async function load() {
  const mine = ++loading;
  if (view.name === 'job') {
    try {
      const name = view.job;
      const [job, figures] = await Promise.all([read(path('jobs', name)), read(path('jobs', name, 'figures'))]);
      const shard = state.shard;
      const attempts = shard ? await read(path('jobs', name, 'attempts', shard)) : [];
      const log = state.log && shard
        ? {name: state.log.name, text: await (await ask(path('jobs', name, 'attempts', shard, state.log.name, 'log')
          + '?bytes=' + LOG_BYTES).catch(() => new Response(''))).text()}
        : null;
      if (mine !== loading) return;
      Object.assign(state, {job, figures, shards: job.all_shards || [], attempts});
      if (log && state.log?.name === log.name) state.log = log;
    } catch (e) {
      if (mine === loading) notice(e.message);
    }
  }
  render();
}

function choose(shardId) {
  const all = cells();
  state.cell = all.findIndex(cell => cell.shards.some(shard => shard.id === shardId));
  state.shard = shardId;
  state.attempts = [];
  state.log = null;
  return load();
}

function route() {
  const [, kind, name] = location.hash.split('/');
  const job = kind === 'job' && name ? decodeURIComponent(name) : null;
  if (location.hash === '#main') return;
  view = job ? {name: 'job', job} : {name: kind === 'nodes' ? 'nodes' : 'jobs'};
  Object.assign(state, {job: null, shards: [], figures: null, cell: null, shard: null, attempts: [], log: null});
  notice('');
  load();
}

document.addEventListener('click', event => {
  const target = event.target.closest('button');
  if (!target) return;
  const {act: what, drain, cell, shard, log} = target.dataset;
  if (target.id === 'key') askToken().then(given => given && notice(''));
  else if (what) {
    act(path('jobs', view.job, what), what === 'cancel' ? `Cancel the job ${view.job} for good?` : null);
  } else if (drain) act(path('nodes', drain, 'drain'), `Let the node ${drain} leave?`);
  else if (cell !== undefined) choose(cells()[cell].shards[0].id);
  else if (shard) choose(shard).then(() => document.querySelector('.map')?.scrollIntoView({block: 'center'}));
  else if (log) {
    state.log = state.log?.name === log ? null : {name: log, text: 'Loading.'};
    load();
  }
});

document.addEventListener('keydown', event => {
  const at = event.target.dataset?.cell;
  const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
  if (at === undefined || !step) return;
  event.preventDefault();
  const next = main.querySelector(`[data-cell="${Number(at) + step}"]`);
  if (next) {
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }
});

function told(block) {
  const lines = block.split('\n');
  const data = lines.filter(line => line.startsWith('data: ')).map(line => line.slice(6)).join('\n');
  if (!data) return false;
  if (lines.includes('event: trouble')) notice('The shared directory cannot be read: ' + JSON.parse(data));
  else Object.assign(state, JSON.parse(data));
  return true;
}

/** Server-sent events, read by hand: the browser's own reader cannot send a token. */
async function listen() {
  const link = document.getElementById('link');
  for (;;) {
    try {
      const stream = (await ask('/api/live')).body.pipeThrough(new TextDecoderStream()).getReader();
      link.className = 'live';
      link.textContent = 'live';
      for (let text = '';;) {
        const {value, done} = await stream.read();
        if (done) break;
        text += value;
        const blocks = text.split('\n\n');
        text = blocks.pop();
        if (blocks.map(told).includes(true)) load();
        else if (view.name === 'job' && state.log) load();
      }
    } catch (e) {
      if (e.status === 401) await askToken();
    }
    link.className = '';
    link.textContent = 'not connected, trying again';
    await new Promise(next => setTimeout(next, 2000));
  }
}

addEventListener('hashchange', route);
route();
listen();
