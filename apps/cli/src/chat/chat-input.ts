/**
 * The keyboard of a chat: the line that is being written, what was said before, and the answers to approvals.
 *
 * I1  A key answers an approval only on an empty line, and never as part of pasted text: nobody allows by accident what was still to be
 *     written.
 * I2  Pasted text is text: its line breaks send nothing, its letters answer nothing.
 */
import type { Key } from 'ink';
import type { WaitingInput } from '@echelon/agent-session';
import { type Chat, toText } from './chat.js';
import * as drafts from './draft.js';
import type { Draft } from './draft.js';
import { isSlashCommand, runSlashCommand } from './slash-commands.js';

const DECLINED = 'The person declined this call.';

/** What Ink tells of a key; all absent means text. */
export type PressedKey = Partial<Key>;

export class ChatInput {
  private current: Draft = drafts.EMPTY;
  /** Writes why the call is denied. */
  private denying = false;
  /** The line is the one that many before, unchanged. */
  private browsed: number | null = null;
  /** The last key asked to leave. */
  private leaves = false;

  constructor(private readonly chat: Chat) {}

  get draft(): Draft {
    return this.current;
  }

  get isDenying(): boolean {
    return this.denying && this.chat.approval !== null;
  }

  /** Text that was pasted. */
  paste(text: string): void {
    this.edit(drafts.insert(this.current, withLineBreaks(text)));
  }

  press(text: string, key: PressedKey): void {
    if (this.chat.isLeft) return;
    if (this.chat.approval === null) this.denying = false;
    if (key.ctrl === true && text === 'c') return this.interrupt();
    this.leaves = false;
    if (key.escape === true) return this.escape();
    if (key.ctrl === true && text === 'd' && this.isEmpty) return void this.chat.leave();
    if (this.answers(text)) return;
    if (key.return === true) return key.meta === true ? this.write('\n') : this.enter();
    if (key.upArrow === true && this.isBrowsable) return this.goBack();
    if (key.downArrow === true && this.isBrowsable) return this.goForward();
    if (key.ctrl === true && text === 'l') return this.sendLead();
    if (key.tab === true && this.isEmpty) return this.edit(drafts.draftOf(this.chat.suggestion ?? ''));
    const edited = editWith(this.current, text, key);
    if (edited !== null) this.edit(edited);
    else if (key.ctrl !== true && key.meta !== true && text !== '') this.write(text);
  }

  private get isEmpty(): boolean {
    return this.current.text === '';
  }

  private get isBrowsable(): boolean {
    return this.isEmpty || this.browsed !== null;
  }

  /** Typed faster than it is read, a line and its Enter may come at once. */
  private write(text: string): void {
    const [line = '', ...rest] = withLineBreaks(text).split('\n');
    const sends = line !== '' && rest.length === 1 && rest[0] === '';
    this.edit(drafts.insert(this.current, withLineBreaks(sends ? line : text)));
    if (sends) this.enter();
  }

  private enter(): void {
    const { text } = this.current;
    if (this.isDenying) return this.deny(text.trim());
    if (text.trim() === '') return;
    this.edit(drafts.EMPTY);
    if (!isSlashCommand(text)) this.chat.say(text);
    else if (!runSlashCommand(this.chat, text)) this.edit(drafts.draftOf(text));
  }

  private sendLead(): void {
    const { text } = this.current;
    if (text.trim() === '' || this.isDenying) return;
    this.edit(drafts.EMPTY);
    this.chat.lead(text);
  }

  private answers(text: string): boolean {
    if (this.chat.approval === null || this.denying || !this.isEmpty) return false;
    if (text === 'y') this.chat.answer({ decision: 'allow', always: false });
    if (text === 'a') this.chat.answer({ decision: 'allow', always: true });
    if (text === 'n') this.denying = true;
    this.chat.changes.announce();
    return true;
  }

  private deny(reason: string): void {
    this.denying = false;
    this.edit(drafts.EMPTY);
    this.chat.answer({ decision: 'deny', reason: reason === '' ? DECLINED : `${DECLINED} Their reason: ${reason}` });
  }

  private escape(): void {
    if (this.isDenying) {
      this.denying = false;
      return this.edit(drafts.EMPTY);
    }
    if (this.chat.isRunning) this.stop();
  }

  private interrupt(): void {
    if (this.leaves || this.chat.isStopping) return void this.chat.leave();
    this.leaves = true;
    if (this.chat.isRunning) return this.stop();
    if (this.isEmpty) this.chat.notice('info', 'Ctrl-C again leaves.');
    else this.edit(drafts.EMPTY);
  }

  private stop(): void {
    const texts = [...this.chat.stop().map(toDraftText), this.denying ? '' : this.current.text].filter((text) => text !== '');
    this.denying = false;
    this.edit(drafts.draftOf(texts.join('\n')));
  }

  private goBack(): void {
    const waiting = this.browsed === null ? this.chat.takeBack() : null;
    if (waiting !== null) return this.edit(drafts.draftOf(toDraftText(waiting)));
    this.browse((this.browsed ?? 0) + 1);
  }

  private goForward(): void {
    if (this.browsed !== null) this.browse(this.browsed - 1);
  }

  private browse(back: number): void {
    const { saidBefore } = this.chat;
    const at = Math.min(back, saidBefore.length);
    this.edit(drafts.draftOf(at === 0 ? '' : (saidBefore.at(-at) ?? '')));
    this.browsed = at === 0 ? null : at;
  }

  private edit(draft: Draft): void {
    this.current = draft;
    this.browsed = null;
    this.chat.changes.announce();
  }
}

/** The keys that change a line; `null` where the key is none of them. */
function editWith(draft: Draft, text: string, key: PressedKey): Draft | null {
  if (key.tab === true) return draft;
  if (key.delete === true) return drafts.eraseAfter(draft);
  if (key.backspace === true) return key.meta === true ? drafts.eraseWord(draft) : drafts.eraseBefore(draft);
  if (key.leftArrow === true) return drafts.moveLeft(draft);
  if (key.rightArrow === true) return drafts.moveRight(draft);
  if (key.home === true) return drafts.moveToStart(draft);
  if (key.end === true) return drafts.moveToEnd(draft);
  const edit = key.ctrl === true && Object.hasOwn(CONTROL_KEYS, text) ? CONTROL_KEYS[text] : undefined;
  return edit?.(draft) ?? null;
}

const CONTROL_KEYS: Readonly<Record<string, (draft: Draft) => Draft>> = {
  a: drafts.moveToStart,
  e: drafts.moveToEnd,
  b: drafts.moveLeft,
  f: drafts.moveRight,
  h: drafts.eraseBefore,
  u: drafts.eraseLine,
  w: drafts.eraseWord,
};

function toDraftText(input: WaitingInput): string {
  return input.kind === 'lead' ? `/lead ${toText(input)}` : toText(input);
}

/** A terminal sends a carriage return for each line break of what is pasted. */
function withLineBreaks(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}
