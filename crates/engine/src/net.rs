//! stub
use crate::RunError;
use measure::{Failure, Resolution};
use plan::{Nanos, Plan, Target};
pub trait Dial {
    type Stream: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + 'static;
    async fn dial(&self, n: u64) -> Result<Dialed<Self::Stream>, DialFailed>;
    async fn dial_other(&self, target: &Target, n: u64) -> Result<Dialed<Self::Stream>, DialFailed>;
}
pub struct Dialed<S> {
    pub stream: S,
    pub connect: Nanos,
    pub tls: Option<Nanos>,
}
pub struct DialFailed {
    pub failure: Failure,
    pub text: String,
}
#[derive(Clone)]
pub struct Network(std::net::SocketAddr, String);
impl Network {
    pub fn prepare(plan: &Plan) -> Result<Self, RunError> {
        Ok(Self(format!("{}:{}", plan.target().host(), plan.target().port()).parse().unwrap(), plan.target().host().to_owned()))
    }
    pub fn resolution(&self) -> Resolution {
        Resolution { name: self.1.clone(), addresses: vec![self.0.to_string()], took: None }
    }
    pub fn warnings(&self) -> Vec<String> {
        vec![]
    }
}
pub fn check_limits(_: &Plan, _: u64) -> Result<(), RunError> {
    Ok(())
}
impl Dial for Network {
    type Stream = tokio::net::TcpStream;
    async fn dial(&self, _: u64) -> Result<Dialed<Self::Stream>, DialFailed> {
        let t = std::time::Instant::now();
        match tokio::net::TcpStream::connect(self.0).await {
            Ok(stream) => {
                let _ = stream.set_nodelay(true);
                Ok(Dialed { stream, connect: t.elapsed().into(), tls: None })
            }
            Err(e) => Err(DialFailed { failure: Failure::ConnectRefused, text: e.to_string() }),
        }
    }
    async fn dial_other(&self, _: &Target, n: u64) -> Result<Dialed<Self::Stream>, DialFailed> {
        self.dial(n).await
    }
}
