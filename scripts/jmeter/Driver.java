import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.Properties;

import org.apache.jmeter.JMeter;
import org.apache.jmeter.control.ReplaceableController;
import org.apache.jmeter.engine.StandardJMeterEngine;
import org.apache.jmeter.gui.tree.JMeterTreeModel;
import org.apache.jmeter.gui.tree.JMeterTreeNode;
import org.apache.jmeter.save.SaveService;
import org.apache.jmeter.services.FileServer;
import org.apache.jmeter.util.JMeterUtils;
import org.apache.jorphan.collections.HashTree;
import org.apache.jorphan.collections.SearchByClass;

/**
 * Carries out test plans with JMeter in one process, as its command line does each in its own. Each line of the standard input is the
 * property {@code port} and a plan's file; what became of it is a line of the standard output. The first line there names the versions.
 */
class Driver {
    private static final long LONGEST = 15_000;

    public static void main(String[] words) throws Exception {
        PrintStream answers = System.out;
        // Whatever else writes there.
        System.setOut(System.err);
        JMeterUtils.setJMeterHome(words[0]);
        JMeterUtils.loadJMeterProperties(words[0] + "/bin/jmeter.properties");
        JMeterUtils.initLocale();
        SaveService.loadProperties();
        Properties kept = (Properties) JMeterUtils.getJMeterProperties().clone();
        answers.println("JMeter " + JMeterUtils.getJMeterVersion() + ", Java " + System.getProperty("java.version"));
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null;) {
            String[] parts = line.split(" ", 2);
            // A plan may set properties.
            Properties properties = JMeterUtils.getJMeterProperties();
            properties.clear();
            properties.putAll(kept);
            properties.setProperty("port", parts[0]);
            String outcome;
            try {
                outcome = carryOut(new File(parts[1]));
            } catch (Exception why) {
                outcome = "failed: " + why.toString().replace('\n', ' ');
            }
            answers.println(outcome);
        }
        System.exit(0);
    }

    private static String carryOut(File plan) throws Exception {
        FileServer.getFileServer().setBaseForScript(plan);
        HashTree tree = SaveService.loadTree(plan);
        JMeterTreeModel model = new JMeterTreeModel(new Object());
        JMeterTreeNode root = (JMeterTreeNode) model.getRoot();
        model.addSubTree(tree, root);
        SearchByClass<ReplaceableController> replaced = new SearchByClass<>(ReplaceableController.class);
        tree.traverse(replaced);
        for (ReplaceableController controller : replaced.getSearchResults()) {
            controller.resolveReplacementSubTree(root);
        }
        StandardJMeterEngine engine = new StandardJMeterEngine();
        engine.configure(JMeter.convertSubTree(tree, true));
        Thread running = new Thread(engine);
        running.start();
        running.join(LONGEST);
        if (!running.isAlive()) {
            return "ended";
        }
        engine.stopTest(true);
        running.join();
        return "failed: it was stopped after " + LONGEST / 1000 + " s";
    }
}
