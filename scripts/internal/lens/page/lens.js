// The page of `workshop lens`. It gets items from the server, and draws those between the
// beginning of the window and the playhead. Everything that a cluster says is text, and never becomes HTML.
'use strict';

const $ = id => document.getElementById(id);
const shared = ['actions', 'others', 'objects'], perProgram = ['events', 'cache', 'queue', 'work', 'requests', 'admission'];
const titles = {
  actions: 'What you did', others: 'Other clients', objects: 'Objects', events: 'Watch events', cache: 'Cache is behind', queue: 'Queue', work: 'Reconcile',
  requests: 'Requests', admission: 'Webhook calls',
};
const meanings = {
  actions: 'your actions.', others: 'requests from kubectl and from Kubernetes’ own controllers.',
  objects: 'each version of an object, as the API server stored it.', events: 'the events that reach the program.',
  cache: 'how long the program hasn’t known the newest version of an object. A few milliseconds are normal.',
  queue: 'keys that wait for a worker.', work: 'each reconcile call, from start to end.',
  requests: 'the requests that the program sends to the API server.', admission: 'the API server’s calls to the program’s webhooks.',
};
const rowHeight = 14, laneGap = 8, left = 130, most = 10000, maxRows = 6;

// ---- what has happened -------------------------------------------------------------------------

const items = new Map(); // by ID
let ordered = []; // by time
const effects = new Map(); // the IDs of what an item has caused
const hasWebhooks = new Set(); // the programs whose webhooks were called
const filled = new Set(); // the lanes, with their programs, that have items
let controls = { programs: [], objects: [], buttons: [] };

function receive(batch) {
  for (const item of batch || []) {
    if (item.lane === 'admission') hasWebhooks.add(item.program);
    filled.add(item.lane + (item.program || ''));
    const known = items.get(item.id);
    if (known) Object.assign(known, item);
    else {
      items.set(item.id, item);
      ordered.push(item);
      if (acted && item.lane === 'actions' && item.at >= acted.pressed) acted.ids.push(item.id);
    }
    for (const cause of item.causes || []) {
      if (!effects.has(cause)) effects.set(cause, new Set());
      effects.get(cause).add(item.id);
    }
  }
  ordered.sort((a, b) => a.at - b.at || a.id - b.id);
  while (ordered.length > most) {
    const gone = ordered.shift();
    items.delete(gone.id);
    effects.delete(gone.id);
  }
  finish();
  changed();
}

// related returns the IDs of everything that caused an item, and everything that it caused.
function related(id) {
  const found = new Set([id]);
  const walk = next => {
    const todo = [id];
    while (todo.length) {
      for (const other of next(todo.pop())) {
        if (!found.has(other) && items.has(other)) {
          found.add(other);
          todo.push(other);
        }
      }
    }
  };
  walk(one => (items.get(one) || {}).causes || []);
  walk(one => effects.get(one) || []);
  return found;
}

// ---- time --------------------------------------------------------------------------------------

let live = true, playhead = Date.now(), lastFrame = performance.now(), dirty = true;
let selected = 0, lit = new Set(), numbers = new Map(), drawn = [], names = [], looked = false;

const span = () => Number($('span').value);
const first = () => ordered.length ? ordered[0].at : Date.now();
const newest = () => ordered.length ? Math.max(ordered[ordered.length - 1].at, ordered[ordered.length - 1].until || 0) : Date.now();
const changed = () => { dirty = true; };

function pause(stop) {
  live = !stop;
  if (live && $('fit').selected) $('span').value = '10000';
  $('pause').textContent = !stop ? 'Pause' : controls.replay ? 'Play' : 'Live →';
  $('pause').setAttribute('aria-pressed', String(stop));
  changed();
}

// After a button has changed an object, the window becomes as wide as everything that this has caused,
// until the user moves through time.
let acted = null; // the IDs of the actions, how many items they have caused, and since when that is so

function zoom() {
  if (!acted || $('predict').checked) return;
  const caused = new Set(acted.ids.flatMap(id => [...related(id)]));
  if (caused.size !== acted.caused) {
    Object.assign(acted, { caused: caused.size, since: Date.now(), shown: false });
  }
  if (acted.shown || caused.size <= acted.ids.length || Date.now() - acted.since < 1000) return;
  acted.shown = true;
  fit(caused);
  select(acted.ids[0]);
  light(caused); // with two programs, of both
}

// fit stops the axis, and makes the window as wide as these items.
function fit(ids) {
  const all = [...ids].map(id => items.get(id)).filter(Boolean);
  const from = Math.min(...all.map(item => item.at)), to = Math.max(...all.map(item => item.until || item.at));
  const wide = Math.max(100, 1.2 * (to - from));
  $('fit').value = String(wide);
  $('fit').textContent = `${(wide / 1000).toFixed(1)} s`;
  $('fit').hidden = false;
  $('fit').selected = true;
  pause(true);
  playhead = to + 0.1 * wide;
}

// step moves the playhead to the item before or after it.
function step(by) {
  acted = null;
  pause(true);
  const at = by > 0 ? ordered.find(item => item.at > playhead + 0.001) : ordered.findLast(item => item.at < playhead - 0.001);
  if (at) {
    playhead = at.at;
    select(at.id);
  }
}

function tick(now) {
  const passed = now - lastFrame;
  lastFrame = now;
  const end = controls.replay ? newest() : Date.now();
  if (live && !$('predict').checked) {
    const speed = Number($('speed').value);
    playhead = speed === 1 && !controls.replay ? end : Math.min(playhead + passed * speed, end);
    dirty = dirty || ordered.length > 0;
  }
  if (dirty) {
    dirty = false;
    draw();
  }
  requestAnimationFrame(tick);
}

// ---- the lanes ---------------------------------------------------------------------------------

function lanes() {
  const all = shared.map(lane => ({ lane, program: '' }));
  for (const program of controls.programs) {
    for (const lane of perProgram) {
      if (lane !== 'admission' || hasWebhooks.has(program)) all.push({ lane, program });
    }
  }
  if (controls.replay || controls.actor) return all.filter(({ lane, program }) => filled.has(lane + program));
  return all;
}

// visible returns the items of the window, in the order of time.
function visible() {
  const from = playhead - span();
  return ordered.filter(item => item.at <= playhead && (!item.until || item.until >= from));
}

// layout gives each item a row in its lane, so that items don't cover each other.
function layout(scale, from) {
  const rows = new Map(lanes().map(l => [l.lane + l.program, { ...l, ends: [], items: [] }]));
  for (const item of visible()) {
    const lane = rows.get(item.lane + (item.program || ''));
    if (!lane) continue;
    const x = Math.max(0, (item.at - from) * scale);
    const width = Math.max(5, (Math.min(item.until || playhead, playhead) - Math.max(item.at, from)) * scale);
    let row = lane.ends.findIndex(end => end < x);
    if (row < 0) row = lane.ends.length < maxRows ? lane.ends.length : (item.id % maxRows);
    lane.ends[row] = x + width + 1;
    lane.items.push({ item, x, width, row });
  }
  return [...rows.values()];
}

function draw() {
  const canvas = $('canvas'), width = canvas.clientWidth;
  const from = playhead - span(), scale = (width - left) / span();
  const rows = layout(scale, from);
  const height = rows.reduce((sum, lane) => sum + Math.max(2, lane.ends.length) * rowHeight + laneGap, 24);
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = height + 'px';
  }
  const style = getComputedStyle(document.documentElement), colours = {};
  const colour = name => colours[name] ||= style.getPropertyValue('--' + name);
  const c = canvas.getContext('2d');
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, width, height);
  c.font = '12px system-ui, sans-serif';
  c.textBaseline = 'middle';
  drawn = [];
  names = [];
  const top = 18; // below the seconds
  let y = top;
  for (const lane of rows) {
    const tall = Math.max(2, lane.ends.length) * rowHeight;
    c.fillStyle = colour('panel');
    c.fillRect(left, y, width - left, tall);
    c.fillStyle = colour('text');
    c.fillText((lane.program && controls.programs.length > 1 ? lane.program + ' ' : '') + titles[lane.lane], 6, y + tall / 2, left - 10);
    names.push({ lane: lane.lane, bottom: y + tall });
    y += tall + laneGap;
  }
  drawSeconds(c, from, scale, width, y, colour);
  c.font = '11px system-ui, sans-serif';
  y = top;
  for (const lane of rows) {
    for (const { item, x, width: wide, row } of lane.items) {
      const above = y + row * rowHeight;
      c.globalAlpha = selected && !lit.has(item.id) ? 0.25 : 1;
      c.fillStyle = colour(severity(item) || item.lane);
      c.fillRect(left + x, above + 1, wide, rowHeight - 2);
      if (wide > 60 && c.measureText(item.label).width < 1.3 * wide) {
        c.fillStyle = colour('back');
        c.fillText(item.label, left + x + 3, above + rowHeight / 2, wide - 6);
      }
      if (item.id === selected) {
        c.strokeStyle = colour('text');
        c.lineWidth = 2;
        c.strokeRect(left + x - 1, above, wide + 2, rowHeight - 1);
      }
      drawn.push({ item, x: left + x, y: above, width: wide });
    }
    c.globalAlpha = 1;
    const taken = []; // by row
    for (const { item, x, row } of lane.items) { // above the bars, so that none covers a number
      if (!numbers.has(item.id) || x < taken[row]) continue;
      taken[row] = x + 14;
      c.fillStyle = colour('text');
      c.beginPath();
      c.arc(left + x - 3, y + row * rowHeight + rowHeight / 2, 7, 0, 2 * Math.PI);
      c.fill();
      c.fillStyle = colour('back');
      c.textAlign = 'center';
      c.fillText(numbers.get(item.id), left + x - 3, y + row * rowHeight + rowHeight / 2 + 0.5);
      c.textAlign = 'start';
    }
    y += Math.max(2, lane.ends.length) * rowHeight + laneGap;
  }
  drawArrows(c, colour);
  $('scrub').value = String(1000 * (playhead - first()) / Math.max(1, newest() - first()));
  say();
}

// severity is the color of an item that isn't as usual, and its class in texts.
function severity(item) {
  if (item.conflict) return 'conflict';
  const old = item.lane === 'cache' && Math.min(item.until || playhead, playhead) - item.at > 1000;
  return item.failed || old ? 'failed' : '';
}

// say says in words which time the lanes show.
function say() {
  const wide = `${Number((span() / 1000).toPrecision(2))} s`, action = acted?.shown && items.get(acted.ids[0]);
  let text = `Paused. The lanes show the ${wide} before ${clock(playhead)}.`;
  if (action) text = `Showing the ${wide} after “${action.label}”. “Live →” goes on.`;
  if (live) text = `Live: the lanes show the last ${wide}.`;
  if ($('predict').checked) text = `Paused at ${clock(playhead)} until you have guessed what happens next.`;
  if ($('status').textContent !== text) $('status').textContent = text;
}

// drawArrows draws an arrow from each numbered item to what it caused.
function drawArrows(c, colour) {
  const at = new Map(drawn.filter(d => numbers.has(d.item.id)).map(d => [d.item.id, d]));
  c.strokeStyle = c.fillStyle = colour('text');
  c.lineWidth = 1.5;
  for (const to of at.values()) {
    for (const from of (to.item.causes || []).map(id => at.get(id)).filter(Boolean)) {
      const x = to.x - 11, y = to.y + rowHeight / 2, startX = from.x - 3, startY = from.y + rowHeight / 2;
      const angle = Math.atan2(y - startY, x - startX);
      c.beginPath();
      c.moveTo(startX + 8 * Math.cos(angle), startY + 8 * Math.sin(angle));
      c.lineTo(x, y);
      c.stroke();
      c.beginPath();
      c.moveTo(x, y);
      for (const turn of [-0.4, 0.4]) c.lineTo(x - 7 * Math.cos(angle + turn), y - 7 * Math.sin(angle + turn));
      c.fill();
    }
  }
}

function drawSeconds(c, from, scale, width, y, colour) {
  c.strokeStyle = colour('line');
  c.lineWidth = 1;
  c.fillStyle = colour('soft');
  const every = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 60000].find(ms => ms * scale >= 60);
  for (let at = Math.ceil(from / every) * every; at <= playhead; at += every) {
    const x = left + (at - from) * scale;
    c.beginPath();
    c.moveTo(x, 4);
    c.lineTo(x, y);
    c.stroke();
    const time = new Date(at), shown = every < 1000 ? time.toISOString().slice(18, 23) + ' s' : clock(at).slice(0, 8);
    if (x + 55 < width) c.fillText(shown, x + 2, 9);
  }
}

function itemAt(event) {
  const box = $('canvas').getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
  const hit = drawn.findLast(d => x >= d.x - 2 && x <= d.x + d.width + 2 && y >= d.y && y <= d.y + rowHeight);
  return hit ? hit.item : null;
}

// ---- the selected item, the tree of objects, and the lists ----------------------------------------

function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

// clock is a time of day in the browser's time zone, with milliseconds.
function clock(at) {
  const time = new Date(at), two = n => String(n).padStart(2, '0');
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${String(time.getMilliseconds()).padStart(3, '0')}`;
}

function link(item) {
  const number = numbers.has(item.id) ? `${numbers.get(item.id)}: ` : '';
  const button = element('button', `${number}${clock(item.at)} ${(item.program ? item.program + ' ' : '') + titles[item.lane]}: ${item.label}`, { type: 'button' });
  button.addEventListener('click', () => select(item.id));
  return button;
}

// light makes these items bright, and numbers the first dozen in the order of time.
function light(ids) {
  lit = ids;
  numbers = new Map(ordered.filter(item => ids.has(item.id)).slice(0, 12).map((item, i) => [item.id, i + 1]));
  changed();
}

function select(id) {
  const item = items.get(id);
  selected = item ? id : 0;
  light(item ? related(id) : new Set());
  if (item && (item.at > playhead || (item.until || playhead) < playhead - span())) { // bring it into view
    pause(true);
    playhead = item.at + span() / 2;
  }
  const box = $('selected');
  box.replaceChildren();
  if (!item) {
    box.append(element('p', 'Click a bar in the lanes. What caused it and what it caused stays bright, in all lanes.'));
    changed();
    return;
  }
  const lasted = item.until > item.at ? `, for ${Math.round(item.until - item.at)} ms` : '';
  box.append(element('p', item.label, { class: severity(item) }), element('p', clock(item.at) + lasted), element('p', item.explain));
  if (item.detail && item.detail.length < 400) box.append(element('pre', item.detail));
  for (const [title, ids] of [['Caused by', item.causes || []], ['Caused', [...(effects.get(id) || [])]]]) {
    const known = ids.map(other => items.get(other)).filter(Boolean);
    if (!known.length) continue;
    box.append(element('h2', title));
    const list = element('ul', '');
    for (const other of known) {
      const entry = element('li', '');
      entry.append(link(other));
      list.append(entry);
    }
    box.append(list);
  }
  if (item.detail?.length >= 400) {
    const more = element('details', '');
    more.append(element('summary', 'all details'), element('pre', item.detail));
    box.append(more);
  }
  changed();
}

// tree shows the objects by owner, as they were at the playhead. It is built again only if it has
// changed, so that it keeps the focus and what is open.
let shownTree = '';
const opened = new Set();

function tree() {
  const last = new Map();
  for (const item of ordered) {
    if (item.lane === 'objects' && item.at <= playhead) last.set(item.object, item);
  }
  const parsed = [...last.values()].filter(item => !item.label.endsWith('is deleted')).map(item => {
    let object = {};
    try { object = JSON.parse(item.detail); } catch { /* it isn't JSON */ }
    return { item, object };
  });
  days(parsed);
  const now = parsed.map(p => p.item.id).join(' ');
  if (now === shownTree) return;
  shownTree = now;
  const root = $('tree'), focused = document.activeElement?.dataset?.object;
  root.replaceChildren();
  const ownedBy = (other, object) => (other.object.metadata?.ownerReferences || []).some(o => o.uid === object.metadata?.uid);
  const add = (list, { item, object }) => {
    const entry = element('li', ''), title = element('button', item.object, { type: 'button', 'data-object': item.object });
    const spec = object.spec || {}, status = object.status || {};
    const ready = (status.conditions || []).map(c => `${c.type}=${c.status}`).join(' ');
    const available = object.kind === 'TDSet' && !('availableReplicas' in status) ? '' : `, available ${status.availableReplicas ?? 0}`;
    const leaving = object.metadata?.deletionTimestamp ? ', being deleted' : '';
    title.addEventListener('click', () => select(item.id));
    entry.append(title, element('small', ` replicas ${spec.replicas ?? status.desiredReplicas ?? spec.defaultReplicas ?? spec.defaultReplica ?? '?'}${available}${leaving} ${ready}`));
    entry.append(section(item.object, 'spec and status', () => [element('pre', JSON.stringify({ spec: object.spec, status: object.status }, null, 1))]));
    entry.append(section(item.object, 'who owns which field', () => Object.entries(item.fields || {}).flatMap(([manager, fields]) => [
      element('h3', manager), element('pre', fields.join('\n')),
    ])));
    const children = parsed.filter(other => ownedBy(other, object));
    if (children.length) {
      const below = element('ul', '');
      children.forEach(child => add(below, child));
      entry.append(below);
    }
    list.append(entry);
  };
  parsed.filter(p => !parsed.some(owner => ownedBy(p, owner.object))).forEach(p => add(root, p));
  if (focused) root.querySelector(`[data-object="${CSS.escape(focused)}"]`)?.focus();
}

// section is a part of the tree that opens and closes. Its content is made when it opens.
function section(object, title, content) {
  const key = object + ' ' + title, made = element('details', '');
  made.append(element('summary', title));
  const fill = () => {
    if (!made.open) return void opened.delete(key);
    opened.add(key);
    if (made.children.length === 1) made.append(...content());
  };
  made.addEventListener('toggle', fill);
  made.open = opened.has(key);
  if (made.open) fill();
  return made;
}

// ---- the day of a TDSet --------------------------------------------------------------------------

// minutesIn returns the minutes of the day that a clock in that time zone shows.
function minutesIn(zone, at) {
  try {
    const [hour, minute] = new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit' }).format(at).split(':');
    return Number(hour) % 24 * 60 + Number(minute);
  } catch { return null; } // the browser doesn't know the zone
}

// windowsOf returns the windows of a TDSet in minutes, for v1 and v2.
function windowsOf(spec) {
  const minutes = text => { const [hour, minute] = String(text).split(':').map(Number); return hour * 60 + (minute || 0); };
  const all = spec.windows || spec.schedulingConfig || [];
  return all.map(w => ({ name: w.name || '', replicas: w.replicas ?? w.replica, from: minutes(w.start ?? w.startTime), to: minutes(w.end ?? w.endTime) || 1440 }));
}

function svg(tag, attributes, text) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text) made.textContent = text;
  return made;
}

let shownDays = '';

function days(parsed) {
  const all = parsed.filter(({ object }) => object.kind === 'TDSet' && object.spec);
  const minute = Math.floor(playhead / 60000), now = minute + ' ' + all.map(p => p.item.id).join(' ');
  if (now === shownDays) return;
  shownDays = now;
  $('days').hidden = !all.length;
  $('days').replaceChildren(element('h2', 'The day'), ...all.map(({ item, object }) => {
    const zone = object.spec.timeZone || 'UTC', next = object.status?.nextTransitionTime;
    const x = at => at / 1440 * 300;
    const picture = svg('svg', { viewBox: '0 0 300 44', role: 'img' });
    picture.append(svg('title', {}, `The windows of ${item.object}, in ${zone}`), svg('rect', { x: 0, y: 10, width: 300, height: 20, class: 'day' }));
    for (const w of windowsOf(object.spec)) {
      for (const [from, to] of w.from < w.to ? [[w.from, w.to]] : [[w.from, 1440], [0, w.to]]) {
        picture.append(svg('rect', { x: x(from), y: 10, width: Math.max(0, x(to) - x(from) - 1), height: 20, class: w.name && w.name === object.status?.activeWindow ? 'active' : 'window' }),
          svg('text', { x: x((from + to) / 2), y: 24 }, String(w.replicas)));
      }
    }
    const clock = minutesIn(zone, playhead), wakes = next ? minutesIn(zone, Date.parse(next)) : null;
    if (clock !== null) picture.append(svg('rect', { x: x(clock), y: 4, width: 2, height: 32, class: 'now' }));
    if (wakes !== null) picture.append(svg('rect', { x: x(wakes), y: 4, width: 2, height: 32, class: 'wakes' }));
    for (const hour of [0, 6, 12, 18]) picture.append(svg('text', { x: x(hour * 60) + 11, y: 42, class: 'hour' }, `${hour}:00`));
    const time = at => String(Math.floor(at / 60)).padStart(2, '0') + ':' + String(at % 60).padStart(2, '0');
    const made = element('figure', '');
    made.append(picture, element('figcaption', `${item.object}, ${zone}: it is ${clock === null ? '?' : time(clock)}` +
      (object.status?.activeWindow ? `, in the window “${object.status.activeWindow}”` : '') + (wakes === null ? '.' : `. The next transition is at ${time(wakes)}.`)));
    return made;
  }));
}

// ---- the lists -----------------------------------------------------------------------------------

// lists fills those lists that are open.
function lists() {
  const box = $('lists');
  for (const { lane, program } of lanes()) {
    const id = `list-${lane}-${program}`;
    let details = $(id);
    if (!details) {
      details = element('details', '', { id });
      details.append(element('summary', `${program ? program + ' ' : ''}${titles[lane]} as a list`, { title: meanings[lane] }), element('ol', ''));
      details.addEventListener('toggle', lists);
      box.append(details);
    }
    if (!details.open) continue;
    const list = details.querySelector('ol');
    const shown = ordered.filter(item => item.lane === lane && (item.program || '') === program && item.at <= playhead).slice(-200);
    if (list.dataset.last === String(shown.at(-1)?.id)) continue;
    list.dataset.last = String(shown.at(-1)?.id);
    list.replaceChildren(...shown.map(item => {
      const entry = element('li', clock(item.at) + ' ', { class: severity(item) });
      const button = element('button', item.label, { type: 'button', title: item.explain });
      button.addEventListener('click', () => select(item.id));
      entry.append(button);
      return entry;
    }));
  }
}

// ---- Predict -----------------------------------------------------------------------------------

// coming is the next item after the playhead that is the program's doing.
const coming = () => ordered.find(item => item.at > playhead && (item.lane === 'work' || item.lane === 'requests'));

function predict(event) {
  event.preventDefault();
  const guess = $('guessed').value.trim();
  if (!guess) {
    $('outcome').textContent = 'Type a guess first.';
    return;
  }
  const next = coming();
  if (!next) {
    $('outcome').textContent = 'Nothing has happened yet. Press a button below, and try again.';
    return;
  }
  playhead = next.at;
  select(next.id);
  $('outcome').textContent = `You guessed “${guess}”. It was: ${titles[next.lane]}, ${next.label}.`;
  $('guessed').value = '';
}

// ---- the buttons -------------------------------------------------------------------------------

function show(next) {
  const object = $('object'), chosen = object.value;
  const same = JSON.stringify(next) === JSON.stringify(controls);
  controls = next;
  if (same) return;
  if (next.actor) [titles.actions, meanings.actions] = [`What ${next.actor} did`, 'changes of samples and of what belongs to them, and faults.'];
  look(next.look);
  controls.objects ||= [];
  $('title').textContent = 'Lens: ' + controls.title;
  document.title = 'Lens: ' + controls.title;
  object.replaceChildren(...controls.objects.map(name => element('option', name)));
  object.value = controls.objects.includes(chosen) ? chosen : controls.objects.at(-1) || '';
  const groups = new Map();
  for (const button of controls.buttons || []) {
    if (!groups.has(button.group)) groups.set(button.group, []);
    groups.get(button.group).push(button);
  }
  const focused = document.activeElement?.dataset?.action;
  $('controls').hidden = Boolean(controls.replay || controls.actor);
  $('buttons').replaceChildren(...[...groups].map(([group, buttons]) => {
    const set = element('fieldset', '');
    set.append(element('legend', group));
    for (const b of buttons) {
      const made = element('button', b.label, { type: 'button', title: b.help, 'data-action': b.action });
      if (b.switch) made.setAttribute('aria-pressed', String(Boolean(b.on)));
      made.addEventListener('click', () => act(b));
      set.append(made);
    }
    return set;
  }));
  if (controls.objects.length) advance('create');
  lists();
  suggest();
  if (focused) document.querySelector(`[data-action="${CSS.escape(focused)}"]`)?.focus();
  changed();
}

async function act(button) {
  pause(false);
  select(0);
  advance(button.action);
  acted = button.group === 'objects' ? { pressed: Date.now() - 50, ids: [], caused: 0 } : null;
  const body = JSON.stringify({ action: button.action, object: button.object ? $('object').value : '' });
  try {
    const response = await fetch('do', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
    $('problem').textContent = await response.text();
  } catch (error) {
    $('problem').textContent = 'The server is gone: ' + error.message;
  }
}

// The first steps: what to do, and the button (or the click) that leads to the next one.
const steps = [
  ['create', 'Start here: press Create. The lanes then show what happens, from your action to the program’s requests.'],
  ['click', 'Click a bar in the lanes: what caused it, and what it caused, stays bright.'],
  ['remove', 'Now press “Delete the Deployment”. What brings it back?'],
  ['F4a', 'A watch event told the program, and it created a new one. Next, a fault: press F4a, and all writes fail.'],
  ['scale', 'Press Scale. What does the program do about the writes that fail?'],
  ['F4a', 'Press F4a again to end the fault. Does the program catch up, or is your change lost?'],
  ['', 'Wait for the key’s next try, up to a minute. That was the tour: point at any other button to read what it does.'],
];
let current = 0;

function advance(did) {
  const at = steps.findIndex(([what], i) => what === did && i >= current && (i === current || did !== 'scale'));
  if (at >= 0) current = at + 1;
  suggest();
}

function suggest() {
  const [what, text] = steps[current] || [];
  $('next').hidden = !text || Boolean(controls.look);
  $('next').firstElementChild.textContent = text;
  for (const button of document.querySelectorAll('#buttons button')) button.classList.toggle('next', Boolean(text) && button.dataset.action === what);
}

// ---- a prepared look -----------------------------------------------------------------------------

// look shows what a prepared scenario is about, and stops where it ends.
function look(state) {
  $('look').hidden = !state;
  if (!state) return;
  const text = element('details', '');
  text.append(element('summary', 'What has happened?'), element('p', state.text));
  $('look').replaceChildren(element('h2', 'Look: ' + state.title), state.done ? text : element('p', 'The scenario is running …'));
  finish();
}

// finish stops where the scenario ends, once its items are here.
function finish() {
  const state = controls.look;
  if (!state?.done || looked || state.select && !items.has(state.select)) return;
  looked = true;
  select(state.select);
  fit(state.select ? lit : items.keys());
}

// ---- begin -------------------------------------------------------------------------------------

function connect() {
  const stream = new EventSource('items');
  stream.addEventListener('message', event => receive(JSON.parse(event.data)));
  stream.addEventListener('controls', event => show(JSON.parse(event.data)));
  stream.addEventListener('error', () => { $('problem').textContent = 'The server is gone: lens has stopped in your terminal.'; });
  stream.addEventListener('open', () => { $('problem').textContent = ''; });
}

$('pause').addEventListener('click', () => { acted = null; pause(live); });
$('back').addEventListener('click', () => step(-1));
$('forward').addEventListener('click', () => step(1));
$('scrub').addEventListener('input', () => {
  acted = null;
  pause(true);
  playhead = first() + Number($('scrub').value) / 1000 * (newest() - first());
});
$('span').addEventListener('change', () => { acted = null; changed(); });
$('predict').addEventListener('change', () => {
  $('guess').hidden = !$('predict').checked;
  $('outcome').textContent = '';
  changed();
});
$('guess').addEventListener('submit', predict);
$('next').lastElementChild.addEventListener('click', () => { current = steps.length; suggest(); });
$('canvas').addEventListener('click', event => {
  const item = itemAt(event);
  acted = null;
  select(item?.id || 0);
  if (item) advance('click');
});
$('canvas').addEventListener('mousemove', event => {
  const item = itemAt(event), tip = $('tip');
  const name = event.offsetX < left && names.find(n => event.offsetY < n.bottom);
  $('canvas').style.cursor = item ? 'pointer' : '';
  tip.hidden = !item && !name;
  if (!tip.hidden) {
    tip.textContent = item ? `${item.label}. ${item.explain}` : `${titles[name.lane]}: ${meanings[name.lane]}`;
    // Below the pointer, but neither over the panel on the right nor over the buttons.
    const right = $('canvas').getBoundingClientRect().right, bottom = $('controls').getBoundingClientRect().top;
    const below = event.clientY + 14, above = event.clientY - 14 - tip.offsetHeight;
    tip.style.left = Math.min(event.clientX + 12, right - tip.offsetWidth) + 'px';
    tip.style.top = (below + tip.offsetHeight > bottom ? above : below) + 'px';
  }
});
$('canvas').addEventListener('mouseleave', () => { $('tip').hidden = true; });
document.addEventListener('keydown', event => {
  if (/INPUT|SELECT|TEXTAREA|BUTTON|SUMMARY/.test(event.target.tagName)) return;
  if (event.key === ' ') { event.preventDefault(); acted = null; pause(live); }
  if (event.key === ',' || event.key === 'ArrowLeft') step(-1);
  if (event.key === '.' || event.key === 'ArrowRight') step(1);
  if (event.key === 'Escape') select(0);
});
window.addEventListener('resize', changed);
window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', changed);
setInterval(() => { zoom(); tree(); lists(); }, 500);

select(0);
const recorded = $('recording'); // the page is a file
if (recorded) {
  const { controls: recordedControls, items: all } = JSON.parse(recorded.textContent);
  receive(all);
  playhead = newest();
  show(recordedControls);
  pause(true);
} else {
  connect();
}
requestAnimationFrame(tick);
