"""Tests of the chart in deploy/helm, and what makes the manifests in deploy/kubernetes from it. Called by kubernetes.sh.

What Helm renders is held against Kubernetes' own descriptions of its objects, and against what those cannot say: that whoever is looked for
by a label is there, that no pod may do more than it has to, and that loadline knows every flag it is started with.
"""

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import kubernetes_validate
import yaml

CHART = Path("deploy/helm/loadline")
MANIFESTS = Path("deploy/kubernetes")
CASES = {path.name.removesuffix("-values.yaml"): path for path in sorted((CHART / "ci").glob("*-values.yaml"))}
# The oldest that Chart.yaml lets in, and the newest that is described.
VERSIONS = ["1.27", "1.37"]
AGENTS = ["--values", str(CASES["agents"])]
# The values files that plain manifests are made of.
PLAIN = ["agents", "run"]
RUN = ["--set-json", 'run={"enabled":true,"args":["run","http://api.shop.svc/"]}']
HEAD = """\
# Made by `make kubernetes` from deploy/helm/loadline and its ci/{case}-values.yaml. What is to be changed before it is applied, and the Secret
# loadline-nats: docs/guide/machines.md, "Without Helm".
"""


def helm(*words):
    """What a command of Helm ended with, and said."""
    done = subprocess.run([os.environ["HELM"], *words], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def rendered(*words, release="loadline", version=VERSIONS[-1], chart=CHART):
    """What the chart makes of these values, where its agents are installed already."""
    status, out, err = helm("template", release, str(chart), "--is-upgrade", "--namespace", "load", "--kube-version", version, *words)
    assert status == 0, err
    return out


def objects(text):
    return [thing for thing in yaml.safe_load_all(text) if thing]


def pods(things):
    """The templates of pods among these objects."""
    return [thing["spec"]["template"] for thing in things if thing["kind"] in ("Deployment", "Job")]


def of_kind(things, kind):
    return [thing for thing in things if thing["kind"] == kind]


def container(things, name):
    return next(one for pod in pods(things) for one in pod["spec"]["containers"] if one["name"] == name)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def begin(stack, words):
    """A program that runs until the test ends."""
    begun = stack.enter_context(subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True))
    stack.callback(begun.terminate)
    return begun


def plain(case):
    """A manifest for those who do not use Helm, and so without its marks."""
    marks = re.compile(r"^(# Source: .*|\s*(helm\.sh/chart|app\.kubernetes\.io/managed-by): .*)\n", re.MULTILINE)
    return HEAD.format(case=case) + marks.sub("", rendered("--values", str(CASES[case])))


class Chart(unittest.TestCase):
    maxDiff = None

    def each_case(self):
        return [objects(rendered("--values", str(path))) for path in CASES.values()]

    def test_helm_finds_nothing_to_say(self):
        for case, path in CASES.items():
            # Helm lints as if all were installed for the first time, and agents go before runs.
            words = ["--set", "run.enabled=false"] if case == "full" else []
            with self.subTest(case):
                status, out, err = helm("lint", "--strict", str(CHART), "--values", str(path), *words)
                self.assertEqual(status, 0, out + err)

    def test_kubernetes_knows_every_object_and_key(self):
        for case, path in CASES.items():
            for version in VERSIONS:
                for thing in objects(rendered("--values", str(path), version=version)):
                    with self.subTest(case=case, version=version, kind=thing["kind"]):
                        kubernetes_validate.validate(thing, version, strict=True)

    def test_an_object_with_a_key_too_many_is_refused(self):
        thing = of_kind(objects(rendered(*AGENTS)), "Service")[0]
        thing["spec"]["selectors"] = {}
        with self.assertRaises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(thing, VERSIONS[-1], strict=True)

    def test_whoever_is_looked_for_by_labels_is_there(self):
        for things in self.each_case():
            labels = [pod["metadata"]["labels"].items() for pod in pods(things)]
            wanted = [thing["spec"]["selector"]["matchLabels"] for thing in of_kind(things, "Deployment")]
            wanted += [thing["spec"]["selector"] for thing in of_kind(things, "Service")]
            for pod in pods(things):
                wanted += [each["labelSelector"]["matchLabels"] for each in pod["spec"].get("topologySpreadConstraints", [])]
            for selector in wanted:
                self.assertTrue(any(selector.items() <= pod for pod in labels), selector)

    def test_no_part_is_taken_for_another(self):
        things = objects(rendered(*AGENTS, *RUN))
        parts = [pod["metadata"]["labels"]["app.kubernetes.io/component"] for pod in pods(things)]
        self.assertEqual(sorted(parts), ["agents", "nats", "run"])

    def test_objects_carry_the_recommended_labels(self):
        for things in self.each_case():
            for thing in things:
                for label in ["name", "instance", "version", "component", "part-of", "managed-by"]:
                    self.assertIn(f"app.kubernetes.io/{label}", thing["metadata"]["labels"])

    def test_pods_keep_the_restricted_standard_and_have_no_token(self):
        for things in self.each_case():
            for pod in pods(things):
                spec = pod["spec"]
                self.assertFalse(spec["automountServiceAccountToken"])
                self.assertTrue(spec["securityContext"]["runAsNonRoot"])
                self.assertEqual(spec["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
                for container in spec["containers"]:
                    context = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
                    self.assertEqual(container["securityContext"], context)
                    self.assertIn("cpu", container["resources"]["requests"])
                    self.assertIn("memory", container["resources"]["limits"])

    def test_what_is_mounted_is_there(self):
        for things in self.each_case():
            made = {(thing["kind"], thing["metadata"]["name"]) for thing in things}
            for pod in pods(things):
                volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes", [])}
                mounts = [mount["name"] for container in pod["spec"]["containers"] for mount in container.get("volumeMounts", [])]
                self.assertEqual(sorted(volumes), sorted(mounts))
                if "scenario" in volumes:
                    self.assertIn(("ConfigMap", volumes["scenario"]["configMap"]["name"]), made)

    def test_agents_have_no_cpu_limit_unless_one_is_given(self):
        for case, limits in [("defaults", {"memory": "1Gi"}), ("full", {"cpu": "4", "memory": "2Gi"})]:
            things = objects(rendered("--values", str(CASES[case])))
            self.assertEqual(container(things, "agent")["resources"]["limits"], limits)

    def test_agents_are_told_where_nats_is_and_what_they_may_load(self):
        things = objects(rendered("--values", str(CASES["defaults"])))
        self.assertEqual(container(things, "agent")["args"], ["agent", "--nats", "$(NATS_URL)", "--group", "loadline", "--allow-target", "private"])
        secret = of_kind(things, "Secret")[0]
        token = secret["stringData"]["token"]
        self.assertRegex(token, "^[A-Za-z0-9]{32}$")
        self.assertEqual(secret["stringData"]["url"], f"nats://{token}@{of_kind(things, 'Service')[0]['metadata']['name']}:4222")
        for name, variable, key in [("agent", "NATS_URL", "url"), ("nats", "NATS_TOKEN", "token")]:
            reference = {"secretKeyRef": {"name": secret["metadata"]["name"], "key": key}}
            self.assertEqual(container(things, name)["env"], [{"name": variable, "valueFrom": reference}])
        given = [thing for thing in objects(rendered(*AGENTS)) if thing["kind"] == "Secret"]
        self.assertEqual(given, [], "a Secret that is there is not made")

    def test_what_proves_who_one_is_comes_as_files_out_of_secrets(self):
        things = objects(rendered("--values", str(CASES["full"])))
        proofs = ["--nats-ca", "/etc/loadline/caSecret", "--nats-creds", "/etc/loadline/credentialsSecret"]
        self.assertEqual(container(things, "agent")["args"][:7], ["agent", "--nats", "tls://nats.test:4222", *proofs])
        self.assertEqual(container(things, "run")["args"][:7], ["find", "--agents", "tls://nats.test:4222/shop?count=5", *proofs])
        for pod in pods(things):
            volume = next(volume for volume in pod["spec"]["volumes"] if volume["name"] == "proofs")
            sources = [(one["secret"]["name"], *one["secret"]["items"][0].values()) for one in volume["projected"]["sources"]]
            self.assertEqual(sources, [("nats-tls", "ca.crt", "caSecret"), ("nats", "load.creds", "credentialsSecret")])

    def test_a_run_asks_for_as_many_agents_as_there_are_unless_told_otherwise(self):
        elsewhere = ["--set", "nats.enabled=false,agents.enabled=false,nats.url=tls://nats.test:4222"]
        for words, agents in [
            ([*AGENTS], "$(NATS_URL)/loadline?count=2"),
            ([*AGENTS, "--set", "agents.replicas=7"], "$(NATS_URL)/loadline?count=7"),
            ([*elsewhere], "tls://nats.test:4222/loadline"),
            ([*elsewhere, "--set", "group=eu", "--set", "run.agents=3"], "tls://nats.test:4222/eu?count=3"),
        ]:
            with self.subTest(words=words):
                told = container(objects(rendered(*RUN, *words)), "run")["args"]
                self.assertEqual(told, ["run", "--agents", agents, "http://api.shop.svc/"])

    def test_files_of_a_scenario_reach_the_job_as_they_are(self):
        given = yaml.safe_load(CASES["run"].read_text())["run"]["files"]
        things = objects(rendered("--values", str(CASES["run"])))
        self.assertEqual(of_kind(things, "ConfigMap")[0]["data"], given)
        odd = "  a first line that is indented\n\ttab, 'quote', \"quote\", {{env NAME}}, ü\n\nthe last without an end"
        self.assertEqual(of_kind(objects(self.with_file(odd)), "ConfigMap")[0]["data"], {"odd.yaml": odd})

    def with_file(self, text):
        values = {"agents": {"allowTargets": ["any"]}, "run": {"enabled": True, "args": ["run", "/scenario/odd.yaml"], "files": {"odd.yaml": text}}}
        done = subprocess.run(
            [os.environ["HELM"], "template", "loadline", str(CHART), "--is-upgrade", "--kube-version", VERSIONS[-1], "--values", "-"],
            input=yaml.safe_dump(values), capture_output=True, text=True, check=True,
        )
        return done.stdout

    def test_results_are_kept_in_a_claim_that_outlives_the_release(self):
        claim = of_kind(objects(rendered("--values", str(CASES["full"]))), "PersistentVolumeClaim")[0]
        self.assertEqual(claim["metadata"]["annotations"], {"helm.sh/resource-policy": "keep"})
        self.assertEqual(claim["spec"]["resources"]["requests"]["storage"], "5Gi")

    def test_a_job_is_called_after_the_revision_and_not_repeated_by_itself(self):
        job = of_kind(objects(rendered("--values", str(CASES["run"]))), "Job")[0]
        self.assertEqual((job["metadata"]["name"], job["spec"]["backoffLimit"]), ("loadline-run-1", 0))
        self.assertEqual(job["spec"]["template"]["spec"]["restartPolicy"], "Never")
        self.assertNotIn("activeDeadlineSeconds", job["spec"])
        self.assertNotIn("ttlSecondsAfterFinished", job["spec"])
        removed = of_kind(objects(rendered("--values", str(CASES["run"]), "--set", "run.ttlSecondsAfterFinished=0")), "Job")[0]
        self.assertEqual(removed["spec"]["ttlSecondsAfterFinished"], 0)

    def test_names_fit_however_long_the_release_is_called(self):
        things = objects(rendered(*AGENTS, *RUN, release="a" * 53))
        for thing in things:
            self.assertRegex(thing["metadata"]["name"], r"^[a-z0-9]([-a-z0-9]{0,55}[a-z0-9])?$")

    def test_wrong_values_are_refused_and_named(self):
        for values, said in [
            ("agents.replicas=-1", "/agents/replicas"),
            ("agents.replicas=two", "/agents/replicas"),
            ("agents.replica=2", "replica"),
            ("agents.allowTargets=api.shop.svc", "/agents/allowTargets"),
            ("agents.spread=always", "/agents/spread"),
            ("agents.resources.limits.cpu=much", "/agents/resources/limits/cpu"),
            ("image.pullPolicy=Sometimes", "/image/pullPolicy"),
            ("image.repository=loadline:0.1.0", "/image/repository"),
            ("group=a.b", "/group"),
            ("runAsUser=0", "/runAsUser"),
            ("nats.url=http://nats:4222", "/nats/url"),
            ("nats.url=nats://nats:4222/group", "/nats/url"),
            ("run.enabled=true,run.args={serve}", "/run/args/0"),
            ("run.agents=0", "/run/agents"),
            ("run.results.size=big", "/run/results/size"),
            ("nats.enabled=false,nats.urlSecret.name=null", "nats.url"),
            ("nats.url=nats://nats:4222", "nats.enabled"),
            ("nats.credentialsSecret.name=nats", "nats.enabled"),
            ("nats.enabled=false,nats.url=nats://nats:4222", "one of them only"),
            ("nats.enabled=false,nats.credentialsSecret.name=nats,nats.nkeySecret.name=nats", "give one of them"),
            ("run.enabled=true,run.args={run}", "install the agents first"),
            ("agents.allowTargets=null", "agents.allowTargets"),
            ("run.enabled=true", "run.args is empty"),
            ("run.enabled=true,agents.enabled=false,run.args={run},run.results.size=1Gi,run.results.existingClaim=results", "give one of them"),
        ]:
            with self.subTest(values):
                status, _, err = helm("template", "loadline", str(CHART), "--kube-version", VERSIONS[-1], *AGENTS, "--set", values)
                self.assertNotEqual(status, 0, "it is taken")
                self.assertIn(said, err)

    def test_every_value_of_the_schema_has_its_word_in_the_values(self):
        # The other way round the schema refuses what it does not know, the defaults among it.
        def compare(schema, values, path):
            for key, value in schema.get("properties", {}).items():
                self.assertIn(key, values, path)
                compare(value, values[key], f"{path}.{key}")

        schema = json.loads((CHART / "values.schema.json").read_text())
        # Helm's own, for whoever takes this chart into another.
        del schema["properties"]["global"]
        compare(schema, yaml.safe_load((CHART / "values.yaml").read_text()), "")

    def test_a_release_without_anything_is_told_what_to_name(self):
        status, _, err = helm("template", "loadline", str(CHART), "--kube-version", VERSIONS[-1])
        self.assertNotEqual(status, 0)
        self.assertIn("agents.allowTargets is empty", err)

    def test_the_chart_is_of_this_version_of_loadline(self):
        version = re.search(r'^version = "(.*)"', Path("Cargo.toml").read_text(), re.MULTILINE)[1]
        self.assertEqual(yaml.safe_load((CHART / "Chart.yaml").read_text())["appVersion"], version)

    def test_notes_name_what_is_there(self):
        with tempfile.TemporaryDirectory() as place:
            chart = Path(shutil.copytree(CHART, Path(place) / "loadline"))
            (chart / "templates/notes.yaml").write_text('notes: {{ include "loadline/templates/NOTES.txt" . | toYaml }}')
            for case, path in CASES.items():
                things = objects(rendered("--values", str(path), chart=chart))
                notes = next(thing["notes"] for thing in things if "notes" in thing)
                there = {f"{thing['kind']}/{thing['metadata']['name']}".lower() for thing in things if "kind" in thing}
                named = set(re.findall(r"(?:job|service)/[-a-z0-9]+", notes))
                self.assertTrue(named and named <= there, f"{case}: {notes}")

    def test_what_pods_are_started_with_works_together(self):
        """The words of all three pods, with addresses of this machine in place of the cluster's."""
        server = shutil.which("nats-server", path=f"{os.environ['PATH']}:/usr/sbin")
        if server is None:
            print("left out: what pods are started with works together: there is no nats-server", file=sys.stderr)
            return
        with contextlib.ExitStack() as stack:
            home = stack.enter_context(tempfile.TemporaryDirectory())
            port = free_port()
            demo = begin(stack, [LOADLINE, "demo", "--serve", "127.0.0.1:0"])
            target = next(found[0] for line in demo.stdout if (found := re.search(r"http://127\.0\.0\.1:[0-9]+", line)))
            run = {"enabled": True, "agents": 1, "args": ["run", "-c", "2", "-n", "100", "--quiet", "--out", "json=-", f"{target}/healthz"]}
            things = objects(rendered("--set", "agents.allowTargets={loopback}", "--set-json", f"run={json.dumps(run)}"))
            secret = {key: text.replace("loadline-nats:4222", f"127.0.0.1:{port}") for key, text in of_kind(things, "Secret")[0]["stringData"].items()}

            def words(name):
                variables = {one["name"]: secret[one["valueFrom"]["secretKeyRef"]["key"]] for one in container(things, name)["env"] if "valueFrom" in one}
                return [re.sub(r"\$\((\w+)\)", lambda found: variables[found[1]], word) for word in container(things, name)["args"]]

            begin(stack, [server, "--addr", "127.0.0.1", *(str(port) if word == "4222" else word for word in words("nats"))])
            begin(stack, [LOADLINE, *words("agent")])
            listing = [LOADLINE, "agents", f"{secret['url']}/loadline", "--json"]
            until = time.monotonic() + 60
            while not (found := subprocess.run(listing, capture_output=True, text=True, check=False).stdout.strip().removeprefix("[]")):
                self.assertLess(time.monotonic(), until, "no agent came")
                time.sleep(0.2)
            self.assertEqual([agent["group"] for agent in json.loads(found)], ["loadline"])
            # As in the pod: nothing of the environment but what it is given. A log has both streams.
            environment = {one["name"]: home for one in container(things, "run")["env"] if one.get("value") == "/results"}
            done = subprocess.run([LOADLINE, *words("run")], cwd=home, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertEqual(json.loads(done.stdout)["requests"]["succeeded"], 100)
            kept = subprocess.run([LOADLINE, "runs"], env=environment, capture_output=True, text=True, check=True).stdout
            self.assertIn("healthz", kept)
            stranger = listing[:2] + [f"nats://127.0.0.1:{port}", "--json"]
            self.assertNotEqual(subprocess.run(stranger, capture_output=True, check=False).returncode, 0, "NATS lets in who has no token")

    def test_plain_manifests_are_what_the_chart_makes(self):
        self.assertEqual({path.name for path in MANIFESTS.glob("*.yaml")}, {f"{case}.yaml" for case in PLAIN})
        for case in PLAIN:
            with self.subTest(case):
                self.assertEqual((MANIFESTS / f"{case}.yaml").read_text(), plain(case), "stale: make kubernetes")

    def test_loadline_knows_every_flag_that_it_is_started_with(self):
        for things in self.each_case():
            for pod in pods(things):
                for container in pod["spec"]["containers"]:
                    if container["name"] == "nats":
                        continue
                    words = container["args"]
                    known = subprocess.run([LOADLINE, words[0], "--help"], capture_output=True, text=True, check=True).stdout
                    for flag in [word for word in words[1:] if word.startswith("--")]:
                        self.assertRegex(known, rf"(^|\s){flag}\b")


if sys.argv[1] == "write":
    for name in PLAIN:
        (MANIFESTS / f"{name}.yaml").write_text(plain(name))
else:
    LOADLINE = str(Path(sys.argv[2]).resolve())
    unittest.main(argv=sys.argv[:1])
