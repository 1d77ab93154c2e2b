import { Body, Controller, Get, Inject, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AnswerUserQuestion, Id, pageOf, ParentQuestion, UserQuestion } from '@echelon/contracts';
import type { Actor, OperatorActor, Services } from '@echelon/orchestration';
import { z } from 'zod';
import { AgentsToo, CurrentActor } from '../http/caller.js';
import { Operation } from '../openapi/operation.js';
import { AnsweredUserQuestion, ListQuestions } from './requests.js';
import { SERVICES } from './services-token.js';

const Question = z.union([ParentQuestion, UserQuestion]);
const chain = z.array(ParentQuestion).describe('The hops of a parent question, in the order in which they were asked.');
const QuestionDetail = z.union([ParentQuestion.extend({ chain }), UserQuestion.extend({ chain })]);
const QuestionChain = z.object({ hops: z.array(ParentQuestion) });

@ApiTags('questions')
@Controller('api/v1/questions')
export class QuestionController {
  constructor(@Inject(SERVICES) private readonly services: Services) {}

  @Get()
  @AgentsToo()
  @Operation({
    summary: 'List questions to parents and to operators',
    description: 'From new to old. Those to parents have a `parent_task_id`.',
    returns: pageOf(Question),
  })
  listQuestions(@CurrentActor() actor: Actor, @Query({ schema: ListQuestions }) query: ListQuestions) {
    return this.services.questions.list(actor, query);
  }

  @Get(':id')
  @AgentsToo()
  @Operation({ summary: 'Get a question with the hops that it took up the hierarchy', returns: QuestionDetail })
  getQuestion(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string) {
    return this.services.questions.getWithChain(actor, id);
  }

  @Get(':id/chain')
  @AgentsToo()
  @Operation({ summary: 'List the hops that a parent question took up the hierarchy', returns: QuestionChain })
  getQuestionChain(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string) {
    return this.services.questions.chain(actor, id);
  }

  @Post(':id/answer')
  @Operation({
    summary: 'Answer a question to operators',
    description:
      'A question to a parent is refused (QUESTION_NOT_YOURS): only the parent answers it. Of two operators one wins; the other reads the winner’s answer.',
    returns: AnsweredUserQuestion,
  })
  answerQuestion(
    @CurrentActor() actor: OperatorActor,
    @Param('id', { schema: Id }) id: string,
    @Body({ schema: AnswerUserQuestion }) body: AnswerUserQuestion,
  ) {
    return this.services.questions.answerUser(actor, id, body);
  }

  @Post(':id/cancel')
  @Operation({
    summary: 'Take back a question to operators',
    description:
      'Whoever asked goes on without an answer. A question that was decided stays as it is, with `claimed: false`; one to a parent is refused (QUESTION_NOT_YOURS).',
    returns: AnsweredUserQuestion,
  })
  cancelQuestion(@CurrentActor() actor: OperatorActor, @Param('id', { schema: Id }) id: string) {
    return this.services.questions.cancelUser(actor, id);
  }
}
