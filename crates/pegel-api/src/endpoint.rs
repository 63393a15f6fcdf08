//! One declaration for a route and its entry in the OpenAPI document.
//!
//! An [`Endpoint`] holds both, and both the router and the document are made from the same list of them, so that
//! neither can have what the other has not. Who may call it is the first thing that has to be said.

use std::any::type_name;
use std::collections::{BTreeMap, BTreeSet};

use axum::Extension;
use axum::handler::Handler;
use axum::http::Method;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodFilter, MethodRouter, on};
use pegel_core::access::permissions::Permission;
use serde_json::json;
use utoipa::ToSchema;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::{HttpMethod, Operation, Parameter, ParameterIn};
use utoipa::openapi::request_body::RequestBody;
use utoipa::openapi::schema::{KnownFormat, Object, SchemaFormat, Type};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{Content, Ref, RefOr, Required, Response, Schema};

use crate::app::App;
use crate::auth::{Signed, require_caller};
use crate::input::Declared;
use crate::problem::PROBLEM_JSON;

/// What stands before every route of the API.
pub(crate) const API: &str = "/api/v1";

/// The name of the cookie's security scheme.
pub(crate) const SESSION_SCHEME: &str = "session";

/// The name of the access token's security scheme.
pub(crate) const TOKEN_SCHEME: &str = "token";

/// Who may call a route.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Access {
    /// Anyone. A test lists every such route.
    Public,
    /// Anyone who has signed in, even who has to change the password first.
    Account,
    /// Anyone who has signed in.
    SignedIn,
    /// Who has this permission; the handler gets its handle from the policy.
    Needs(&'static Permission),
}

/// Where a route is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Below the base path and `/api/v1`.
    Api,
    /// Below the base path.
    Web,
    /// At the root, whatever the base path: for who watches the process.
    Root,
}

/// A schema with its name, as the document collects them.
pub(crate) type NamedSchema = (String, RefOr<Schema>);

/// A route and its entry in the document.
pub(crate) struct Endpoint {
    pub(crate) place: Place,
    pub(crate) path: String,
    pub(crate) method: HttpMethod,
    pub(crate) operation: Operation,
    pub(crate) schemas: Vec<NamedSchema>,
    access: Access,
    router: MethodRouter<App>,
}

impl Endpoint {
    /// Returns the path as the document has it: without the base path.
    pub(crate) fn document_path(&self) -> String {
        match self.place {
            Place::Api => format!("{API}{}", self.path),
            Place::Web | Place::Root => self.path.clone(),
        }
    }

    /// Returns the path as it is served.
    pub(crate) fn served_path(&self, app: &App) -> String {
        let base = if self.place == Place::Root { "" } else { app.settings.base_path() };
        format!("{base}{}", self.document_path())
    }

    /// Returns the methods it answers to.
    pub(crate) const fn methods(&self) -> &'static [&'static str] {
        match self.method {
            HttpMethod::Post => &["POST"],
            HttpMethod::Put => &["PUT"],
            HttpMethod::Delete => &["DELETE"],
            HttpMethod::Patch => &["PATCH"],
            _ => &["GET", "HEAD"],
        }
    }

    /// Returns what serves it, behind authentication.
    pub(crate) fn mount(self, app: &App) -> MethodRouter<App> {
        let signed = match self.access {
            Access::Public => return self.router,
            Access::Account => Signed::Barely,
            Access::SignedIn | Access::Needs(_) => Signed::Fully,
        };
        self.router.route_layer(from_fn_with_state((app.clone(), signed), require_caller))
    }
}

/// An endpoint that has no handler yet.
pub(crate) struct Draft {
    place: Place,
    method: Method,
    path: String,
    access: Access,
    id: Option<String>,
    summary: &'static str,
    audited: Option<&'static str>,
    declared: Declared,
    parameters: Vec<Parameter>,
    body: Option<RefOr<Schema>>,
    answers: BTreeMap<u16, Response>,
    problems: BTreeSet<u16>,
    schemas: Vec<NamedSchema>,
    extensions: Vec<(&'static str, serde_json::Value)>,
}

impl Draft {
    /// Begins a route below `/api/v1`. The summary is one sentence.
    pub(crate) fn api(
        method: Method,
        path: impl Into<String>,
        access: Access,
        summary: &'static str,
    ) -> Self {
        Self::at(Place::Api, method, path.into(), access, summary)
    }

    /// Begins a public route elsewhere.
    pub(crate) fn public(place: Place, path: &str, summary: &'static str) -> Self {
        Self::public_to(Method::GET, place, path, summary)
    }

    /// Begins a public route elsewhere, of any method.
    pub(crate) fn public_to(method: Method, place: Place, path: &str, summary: &'static str) -> Self {
        Self::at(place, method, path.to_owned(), Access::Public, summary)
    }

    fn at(place: Place, method: Method, path: String, access: Access, summary: &'static str) -> Self {
        let mut problems = BTreeSet::new();
        if place == Place::Api {
            problems.extend([400, 421, 500, 503]);
        }
        match access {
            Access::Public => {}
            Access::Account | Access::SignedIn | Access::Needs(_) => problems.extend([401, 403]),
        }
        if !method.is_safe() {
            problems.extend([403, 415]);
        }
        let parameters = names_in(&path).map(path_parameter).collect::<Vec<_>>();
        if !parameters.is_empty() {
            problems.insert(404);
        }
        Self {
            place,
            method,
            path,
            access,
            id: None,
            summary,
            audited: None,
            declared: Declared::default(),
            parameters,
            body: None,
            answers: BTreeMap::new(),
            problems,
            schemas: Vec::new(),
            extensions: Vec::new(),
        }
    }

    /// Names the operation; without this it is called like its handler.
    pub(crate) fn id(mut self, id: String) -> Self {
        self.id = Some(id);
        self
    }

    /// Says which audit action a success is written down as.
    pub(crate) fn audited(mut self, action: &'static str) -> Self {
        self.audited = Some(action);
        self
    }

    /// Declares the query: one parameter for each property of the type.
    pub(crate) fn query<T: ToSchema + 'static>(mut self) -> Self {
        self.declared.query::<T>();
        T::schemas(&mut self.schemas);
        if let RefOr::T(Schema::Object(object)) = T::schema() {
            for (name, schema) in object.properties {
                let is_required = object.required.contains(&name);
                self.parameters.push(query_parameter(name, schema, is_required));
            }
        }
        self
    }

    /// Declares the JSON body.
    pub(crate) fn body<T: ToSchema + 'static>(mut self) -> Self {
        self.declared.body::<T>();
        self.body = Some(self.reference::<T>());
        self.problems.extend([408, 413, 415]);
        self
    }

    /// Declares an answer with a JSON body.
    pub(crate) fn answers<T: ToSchema>(mut self, status: u16, description: &'static str) -> Self {
        let schema = self.reference::<T>();
        self.answers_as(status, description, "application/json", schema)
    }

    /// Declares a success with JSON that no type here describes.
    pub(crate) fn answers_json(self, description: &'static str) -> Self {
        let any = Object::builder().schema_type(Type::Object);
        self.answers_as(200, description, "application/json", any.into())
    }

    /// Declares a success with server-sent events that hold this.
    pub(crate) fn answers_events<T: ToSchema>(mut self, description: &'static str) -> Self {
        let schema = self.reference::<T>();
        self.answers_as(200, description, "text/event-stream", schema)
    }

    /// Declares a success with a text body.
    pub(crate) fn answers_text(self, description: &'static str, media_type: &'static str) -> Self {
        let text = Object::builder().schema_type(Type::String);
        self.answers_as(200, description, media_type, text.into())
    }

    /// Declares an answer without a body.
    pub(crate) fn answers_nothing(mut self, status: u16, description: &'static str) -> Self {
        self.answers.insert(status, Response::builder().description(description).build());
        self
    }

    /// Declares another problem than those that follow from what else is declared.
    pub(crate) fn refuses(mut self, statuses: &[u16]) -> Self {
        self.problems.extend(statuses);
        self
    }

    /// Adds something for programs that read the document; the name begins with `x-pegel-`.
    pub(crate) fn extension(mut self, name: &'static str, value: impl Into<serde_json::Value>) -> Self {
        self.extensions.push((name, value.into()));
        self
    }

    /// Completes the route with what serves it.
    pub(crate) fn by<H, T>(mut self, handler: H) -> Endpoint
    where
        H: Handler<T, App>,
        T: 'static,
    {
        let own_name = type_name::<H>().rsplit("::").next().unwrap_or_default().to_owned();
        let id = self.id.take().unwrap_or(own_name);
        let router = on(filter_of(&self.method), handler).layer(Extension(self.declared.clone()));
        let operation = self.operation(id);
        Endpoint {
            place: self.place,
            path: self.path,
            method: http_method_of(&self.method),
            operation,
            schemas: self.schemas,
            access: self.access,
            router,
        }
    }

    fn answers_as(
        mut self,
        status: u16,
        description: &'static str,
        media_type: &'static str,
        schema: RefOr<Schema>,
    ) -> Self {
        let content = Content::new(Some(schema));
        let response = Response::builder().description(description).content(media_type, content);
        self.answers.insert(status, response.build());
        self
    }

    fn reference<T: ToSchema>(&mut self) -> RefOr<Schema> {
        T::schemas(&mut self.schemas);
        self.schemas.push((T::name().into_owned(), T::schema()));
        RefOr::Ref(Ref::from_schema_name(T::name()))
    }

    fn operation(&self, id: String) -> Operation {
        let mut operation = Operation::builder()
            .operation_id(Some(id))
            .tag(tag_of(self.place, &self.path))
            .summary(Some(self.summary))
            .parameters(Some(self.parameters.clone()));
        if let Some(schema) = &self.body {
            let content = Content::new(Some(schema.clone()));
            let body = RequestBody::builder().content("application/json", content);
            operation = operation.request_body(Some(body.required(Some(Required::True)).build()));
        }
        for (status, response) in &self.answers {
            operation = operation.response(status.to_string(), response.clone());
        }
        for status in &self.problems {
            operation =
                operation.response(status.to_string(), Ref::from_response_name(problem_name(*status)));
        }
        let schemes: Vec<SecurityRequirement> = match self.access {
            Access::Public => Vec::new(),
            _ => [SESSION_SCHEME, TOKEN_SCHEME]
                .into_iter()
                .map(|scheme| SecurityRequirement::new(scheme, [] as [&str; 0]))
                .collect(),
        };
        operation.securities(Some(schemes)).extensions(Some(self.own_extensions())).build()
    }

    fn own_extensions(&self) -> Extensions {
        let mut extensions = Extensions::default();
        if let Access::Needs(permission) = self.access {
            extensions.insert("x-pegel-permission".to_owned(), json!(permission.name));
            extensions.insert("x-pegel-minimum-role".to_owned(), json!(permission.minimum_role));
        }
        if let Some(action) = self.audited {
            extensions.insert("x-pegel-audited".to_owned(), json!(action));
        }
        for (name, value) in &self.extensions {
            extensions.insert((*name).to_owned(), value.clone());
        }
        extensions
    }
}

fn problem_name(status: u16) -> String {
    format!("Problem{status}")
}

/// Returns the problems of all routes, each with its name in the document.
pub(crate) fn problem_responses() -> impl Iterator<Item = (String, Response)> {
    PROBLEMS.iter().map(|(status, description)| {
        let content = Content::new(Some(Ref::from_schema_name("Problem")));
        let response = Response::builder().description(*description).content(PROBLEM_JSON, content);
        (problem_name(*status), response.build())
    })
}

/// What each status of a problem says.
const PROBLEMS: [(u16, &str); 13] = [
    (400, "The request is malformed or breaks a rule that `errors` names."),
    (401, "Nobody is signed in."),
    (403, "The caller may not do this, or the request came from another site."),
    (404, "It does not exist, or is outside of the caller's scope."),
    (408, "The body did not arrive in time."),
    (409, "Someone else changed it meanwhile, or it is in the way of another."),
    (413, "The body is too large."),
    (415, "The body is not declared as JSON."),
    (421, "The request is for a host that this Pegel does not answer for."),
    (422, "The connection test failed, so nothing was saved."),
    (429, "Too much at once; `Retry-After` says when to come back."),
    (503, "The store or the cluster cannot be used now."),
    (500, "Pegel failed; the log holds more under the request's id."),
];

fn names_in(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn path_parameter(name: &str) -> Parameter {
    let schema: RefOr<Schema> = match name {
        "cluster" => Ref::from_schema_name("ClusterSlug").into(),
        "key" | "says" => Object::builder().schema_type(Type::String).into(),
        _ => {
            let format = SchemaFormat::KnownFormat(KnownFormat::Uuid);
            Object::builder().schema_type(Type::String).format(Some(format)).into()
        }
    };
    Parameter::builder()
        .name(name)
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .schema(Some(schema))
        .build()
}

fn query_parameter(name: String, schema: RefOr<Schema>, is_required: bool) -> Parameter {
    let mut builder = Parameter::builder().name(name).parameter_in(ParameterIn::Query);
    if let RefOr::T(Schema::Object(object)) = &schema {
        builder = builder.description(object.description.clone());
    }
    let required = if is_required { Required::True } else { Required::False };
    builder.required(required).schema(Some(schema)).build()
}

/// Groups operations by what they are about: the first word of the path, or what is below a cluster.
fn tag_of(place: Place, path: &str) -> &str {
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    let first = parts.next().unwrap_or_default();
    match (place, first, parts.nth(1)) {
        (Place::Root, ..) => "health",
        (Place::Web, ..) | (_, "openapi.json", _) => "meta",
        (_, "connection-tests", _) => "clusters",
        (_, "clusters", Some("operations")) => "operations",
        _ => first,
    }
}

fn filter_of(method: &Method) -> MethodFilter {
    MethodFilter::try_from(method.clone()).expect("routes are declared with methods of HTTP")
}

fn http_method_of(method: &Method) -> HttpMethod {
    match *method {
        Method::POST => HttpMethod::Post,
        Method::PUT => HttpMethod::Put,
        Method::DELETE => HttpMethod::Delete,
        Method::PATCH => HttpMethod::Patch,
        _ => HttpMethod::Get,
    }
}
