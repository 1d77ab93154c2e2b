/** `echelon run` as a process of its own, with frames in both directions. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { OutputFrame } from '../../../apps/cli/src/run/frames.js';
import { answers, controls, CLI_COMMAND, FRAMED, HeadlessRun, says } from '../../support/headless.js';
import type { Run, Surface, Told } from '../scenario.js';
import type { Stage } from './index.js';
import { DENIED } from './loop.js';
import { writeSettings } from './local-settings.js';

type TurnEnd = Extract<OutputFrame, { readonly subtype: 'turn_end' }>;
type Asked = Extract<OutputFrame, { readonly type: 'control_request' }>;

export function createHeadlessSurface(stage: Stage): Promise<Surface> {
  return Promise.resolve({
    name: 'headless',
    stopsAs: ({ reason }) => reason,
    run: (run) => new HeadlessScenario(stage, run).play(),
    close: () => Promise.resolve(),
  });
}

class HeadlessScenario {
  private readonly answered = new Set<string>();

  constructor(
    private readonly stage: Stage,
    private readonly run: Run,
  ) {}

  async play(): Promise<Told> {
    const { scenario } = this.run;
    let process = this.start();
    try {
      if (scenario.kill) process = await this.dieAndGoOn(process);
      else await this.talk(process);
      process.endInput();
      const { frames } = await process.ended;
      return tell(frames);
    } finally {
      await process.kill();
    }
  }

  private start(...more: readonly string[]): HeadlessRun {
    const { scenario, folder, model } = this.run;
    const schema = scenario.resultSchema ? ['--json-schema', JSON.stringify(scenario.resultSchema)] : [];
    const own = ['--cwd', folder, '--provider', 'compatible', '--model', model, '--settings', writeSettings(this.stage.data, this.run)];
    const child = spawn(
      globalThis.process.execPath,
      [...CLI_COMMAND, 'run', ...own, ...FRAMED, '--permission-prompts', ...schema, ...more],
      {
        env: { ...globalThis.process.env, ECHELON_DATA_DIR: this.stage.data, ECHELON_MODEL_BASE_URL: this.stage.modelUrl },
      },
    );
    const process = new HeadlessRun(child);
    child.stdout?.on('data', () => this.answer(process));
    return process;
  }

  private async talk(process: HeadlessRun): Promise<void> {
    const { scenario, due } = this.run;
    if (scenario.cancel) void due(scenario.cancel).then(() => process.send(controls('cancel', { subtype: 'interrupt' })));
    if (scenario.input) void this.sayMeanwhile(process, scenario.input);
    let turns = 0;
    for (const prompt of scenario.prompts ?? ['Go.']) {
      process.send(says(prompt));
      await process.frame(endOf(++turns));
    }
    for (let left = scenario.retries ?? 0; left > 0; left--) {
      process.send(controls(`retry-${left}`, { subtype: 'continue_last_turn' }));
      await process.frame(endOf(++turns));
    }
  }

  /** The answer to a request that stands behind the text tells that the text was taken. */
  private async sayMeanwhile(process: HeadlessRun, input: NonNullable<Run['scenario']['input']>): Promise<void> {
    await this.run.due(input);
    process.send(says(input.text), controls('taken', { subtype: 'set_permission_mode', mode: 'full_access' }));
    await process.frame((frame): frame is OutputFrame => frame.type === 'control_response');
    writeFileSync(path.join(this.run.folder, 'said'), '');
  }

  private async dieAndGoOn(process: HeadlessRun): Promise<HeadlessRun> {
    process.send(says('Go.'));
    await this.run.due(this.run.scenario.kill!);
    const init = await process.frame(
      (frame): frame is Extract<OutputFrame, { subtype: 'init' }> => 'subtype' in frame && frame.subtype === 'init',
    );
    await process.kill();
    const again = this.start('--resume', init.session_id);
    again.send(controls('go-on', { subtype: 'continue_last_turn' }));
    await again.frame(endOf(1));
    return again;
  }

  private answer(process: HeadlessRun): void {
    const { answers: wanted = {} } = this.run.scenario;
    for (const { request_id: id, request } of process.frames.filter((frame): frame is Asked => frame.type === 'control_request')) {
      if (this.answered.has(id)) continue;
      this.answered.add(id);
      const answer = wanted[request.tool_name] ?? 'allow';
      process.send(
        answers(id, answer === 'deny' ? { behavior: 'deny', message: DENIED } : { behavior: 'allow', always: answer === 'always' }),
      );
    }
  }
}

function endOf(turn: number): (frame: OutputFrame) => frame is TurnEnd {
  return (frame): frame is TurnEnd => isTurnEnd(frame) && frame.turn === turn;
}

function isTurnEnd(frame: OutputFrame): frame is TurnEnd {
  return frame.type === 'system' && frame.subtype === 'turn_end';
}

function tell(frames: readonly OutputFrame[]): Told {
  const stops: string[] = [];
  const texts: string[] = [];
  let text = '';
  for (const frame of frames) {
    if (frame.type === 'user') text = '';
    if (frame.type === 'assistant') text += frame.message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    if (!isTurnEnd(frame)) continue;
    stops.push(frame.stop_reason);
    texts.push(text);
    text = '';
  }
  return { stops, texts };
}
