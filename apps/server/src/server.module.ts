import { type DynamicModule, Module, type Provider, type Type } from '@nestjs/common';
import { DeliveryController } from './api/delivery.controller.js';
import { NotificationController } from './api/notification.controller.js';
import { ProfileController } from './api/profile.controller.js';
import { QuestionController } from './api/question.controller.js';
import { SERVICES } from './api/services-token.js';
import { SessionController } from './api/session.controller.js';
import { SystemController } from './api/system.controller.js';
import { TaskDependencyController } from './api/task-dependency.controller.js';
import { TaskPlanController } from './api/task-plan.controller.js';
import { TaskStepController } from './api/task-step.controller.js';
import { TaskController } from './api/task.controller.js';
import { TokenController } from './api/token.controller.js';
import { TurnController } from './api/turn.controller.js';
import { WorkflowController } from './api/workflow.controller.js';
import { WorkspaceController } from './api/workspace.controller.js';
import { EventController } from './events/event.controller.js';
import { EventStreams } from './events/event-streams.js';
import { Gate } from './http/gate.js';
import { HomeController } from './pages/home.controller.js';
import { HEALTH, METRICS, OperationsController } from './pages/operations.controller.js';
import { SignInController } from './pages/sign-in.controller.js';
import type { ServerOptions } from './server-options.js';

const CONTROLLERS: Type[] = [
  WorkspaceController,
  ProfileController,
  TokenController,
  TaskController,
  TaskDependencyController,
  TaskPlanController,
  TaskStepController,
  WorkflowController,
  SessionController,
  TurnController,
  DeliveryController,
  NotificationController,
  QuestionController,
  EventController,
  SystemController,
  HomeController,
  SignInController,
  OperationsController,
];

/** Nest's only module: the controllers, and the values that they are given. */
@Module({})
export class ServerModule {
  static of({ services, health, metrics }: ServerOptions, gate: Gate, streams: EventStreams): DynamicModule {
    const providers: Provider[] = [
      { provide: SERVICES, useValue: services },
      { provide: HEALTH, useValue: health },
      { provide: METRICS, useValue: metrics },
      { provide: Gate, useValue: gate },
      { provide: EventStreams, useValue: streams },
    ];
    return { module: ServerModule, controllers: CONTROLLERS, providers };
  }
}
